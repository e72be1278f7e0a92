import { defineStore } from 'pinia';
import { ref } from 'vue';
import { messageOf } from '../../core/text/errors.ts';

export interface Toast {
  id: number;
  kind: 'plain' | 'bad';
  message: string;
  /** Reverts the action, while the toast is shown. */
  undo?: () => void | Promise<void>;
}

/** The hub can restore deleted files for this long. */
export const undoMs = 10_000;

/** Short messages in the corner of the window. A failure stays until the user closes it. */
export const useToastsStore = defineStore('toasts', () => {
  const toasts = ref<Toast[]>([]);
  let lastId = 0;

  function show(toast: Omit<Toast, 'id'>): void {
    lastId += 1;
    const id = lastId;
    toasts.value.push({ ...toast, id });
    if (toast.kind === 'plain') setTimeout(() => close(id), undoMs);
  }

  function close(id: number): void {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  }

  function tell(message: string, undo?: Toast['undo']): void {
    show({ kind: 'plain', message, undo });
  }

  function fail(reason: unknown): void {
    show({ kind: 'bad', message: messageOf(reason) });
  }

  /** Runs an action and reports its failure. */
  async function attempt(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (reason) {
      fail(reason);
    }
  }

  return { toasts, tell, fail, close, attempt };
});
