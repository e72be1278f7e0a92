import { useTimeoutFn } from '@vueuse/core';
import { onScopeDispose } from 'vue';

/** Pause between readings of runs that train: each reading transfers thousands of points. */
const pauseMs = 1000;

/** Repeats an action while the component lives and its page is visible, with a pause after each time. */
export function repeatWhileVisible(action: () => Promise<void>): void {
  let isOver = false;
  onScopeDispose(() => (isOver = true));
  const { start } = useTimeoutFn(() => void tick(), pauseMs);
  async function tick(): Promise<void> {
    if (!document.hidden) await action();
    if (!isOver) start();
  }
}
