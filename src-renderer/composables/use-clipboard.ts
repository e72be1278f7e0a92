import { useToastsStore } from '../stores/toasts.ts';

/** Copies text and says so. */
export function useClipboard(): (text: string) => Promise<void> {
  const toasts = useToastsStore();
  return (text) =>
    toasts.attempt(async () => {
      await navigator.clipboard.writeText(text);
      toasts.tell('Copied.');
    });
}
