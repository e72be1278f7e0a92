import { onMounted, onScopeDispose, type Ref, shallowRef } from 'vue';
import { onThemeChange } from '../../charts/scene/theme.ts';
import { parseRgb, type Rgb } from './contrast.ts';

/** The colours of some tokens at an element, in the current theme; null until it is there. */
export function useThemeColors(
  element: Readonly<Ref<HTMLElement | null>>,
  tokens: readonly string[],
): Readonly<Ref<ReadonlyMap<string, Rgb> | null>> {
  const colors = shallowRef<ReadonlyMap<string, Rgb> | null>(null);
  function measure(): void {
    if (element.value === null) return;
    // A variable's text may be `light-dark(...)`. A colour set from it is resolved.
    const probe = document.createElement('span');
    element.value.append(probe);
    const style = getComputedStyle(probe);
    colors.value = new Map(
      tokens.map((token) => {
        probe.style.color = `var(--${token})`;
        return [token, parseRgb(style.color)];
      }),
    );
    probe.remove();
  }
  onMounted(measure);
  onScopeDispose(onThemeChange(measure));
  return colors;
}
