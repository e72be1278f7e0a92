import { onBeforeUnmount, onMounted, type Ref, shallowRef, type ShallowRef } from 'vue';

/** An element's size in pixels, as it is now; 0 x 0 before it stands. */
export function useSize(
  element: Readonly<Ref<Element | null>>,
): Readonly<ShallowRef<{ width: number; height: number }>> {
  const size = shallowRef({ width: 0, height: 0 });
  const observer = new ResizeObserver(([{ contentRect }]) => {
    size.value = { width: contentRect.width, height: contentRect.height };
  });
  onMounted(() => {
    if (element.value !== null) observer.observe(element.value);
  });
  onBeforeUnmount(() => observer.disconnect());
  return size;
}
