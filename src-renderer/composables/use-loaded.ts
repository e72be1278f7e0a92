import { onScopeDispose, type Ref, ref, shallowRef } from 'vue';
import { useHubClient } from '../client/use-hub.ts';
import { messageOf } from '../../core/text/errors.ts';

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
