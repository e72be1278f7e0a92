import { onScopeDispose, type Ref, shallowRef, watch } from 'vue';

/** An address for the bytes of a file, as long as the component shows them; null without bytes. */
export function useObjectUrl(bytes: () => Uint8Array | null, type: string): Readonly<Ref<string | null>> {
  const address = shallowRef<string | null>(null);

  function release(): void {
    if (address.value !== null) URL.revokeObjectURL(address.value);
    address.value = null;
  }

  watch(
    bytes,
    (own) => {
      release();
      if (own !== null) address.value = URL.createObjectURL(new Blob([Uint8Array.from(own)], { type }));
    },
    { immediate: true },
  );
  onScopeDispose(release);
  return address;
}
