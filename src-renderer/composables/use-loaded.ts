import { onScopeDispose, type Ref, ref, shallowRef } from 'vue';
import { useHubClient } from '../client/use-hub.ts';
import { messageOf } from '../../core/text/errors.ts';
import { useDocumentVisibility, useTimeoutFn } from '@vueuse/core';

export interface Loaded<T> {
  /** Null until the first answer. */
  data: Readonly<Ref<T | null>>;
  error: Readonly<Ref<string | null>>;
  isLoading: Readonly<Ref<boolean>>;
  reload(): Promise<void>;
}

/** Loads data from the hub now, and again after each reconnection. The latest of several concurrent loads counts. */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const data = shallowRef<T | null>(null);
  const error = ref<string | null>(null);
  const isLoading = ref(false);
  let turn = 0;

  async function reload(): Promise<void> {
    const own = ++turn;
    isLoading.value = true;
    try {
      const found = await load();
      if (own !== turn) return;
      data.value = found;
      error.value = null;
    } catch (reason) {
      if (own === turn) error.value = messageOf(reason);
    }
    if (own === turn) isLoading.value = false;
  }

  const end = useHubClient().on('returned', () => void reload());
  onScopeDispose(end);
  void reload();
  return { data, error, isLoading, reload };
}

/** Pause between readings of runs that train: each reading transfers thousands of points. */
const pauseMs = 1000;

/** Repeats an action while the component lives and its page is visible, with a pause after each time. */
export function repeatWhileVisible(action: () => Promise<void>): void {
  const visibility = useDocumentVisibility();
  let isOver = false;
  onScopeDispose(() => (isOver = true));
  const { start } = useTimeoutFn(() => void tick(), pauseMs);
  async function tick(): Promise<void> {
    if (visibility.value !== 'hidden') await action();
    if (!isOver) start();
  }
}
