import { useToastsStore } from '../stores/toasts.ts';

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
