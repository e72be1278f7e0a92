import { useToastsStore } from '../stores/toasts.ts';
import { onScopeDispose, type Ref, shallowRef, watch } from 'vue';

/**
 * Copies text and reports the outcome. VueUse's `useClipboard` cannot: where the browser refuses, it falls back to
 * `document.execCommand`, which fails silently inside a dialog that holds the focus.
 */
export function useClipboard(): (text: string) => Promise<void> {
  const toasts = useToastsStore();
  return (text) =>
    toasts.attempt(async () => {
      // Browsers define `clipboard` only on https and on localhost.
      if (!('clipboard' in navigator)) {
        throw new Error(
          'This browser lets a page copy only over https or from localhost. Select the text and copy it with ' +
            'the keyboard.',
        );
      }
      await navigator.clipboard.writeText(text);
      toasts.tell('Copied.');
    });
}

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
