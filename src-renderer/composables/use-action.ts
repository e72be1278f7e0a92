import { type Ref, ref } from 'vue';
import { messageOf } from '../../core/text/errors.ts';
import { useToastsStore } from '../stores/toasts.ts';

export interface Action {
  /** Whether one is under way. */
  isBusy: Readonly<Ref<boolean>>;
  /** Runs what the user asks for. @returns whether it succeeded */
  act: (work: () => unknown) => Promise<boolean>;
}

/** An action whose failure is shown beside it. */
export function useAction(): Action & { error: Ref<string | null> } {
  const error = ref<string | null>(null);
  const action = reporting((reason) => (error.value = messageOf(reason)));
  const act = (work: () => unknown): Promise<boolean> => {
    error.value = null;
    return action.act(work);
  };
  return { ...action, error, act };
}

/** An action whose failure is told in a toast. */
export function useToastAction(): Action {
  const toasts = useToastsStore();
  return reporting(toasts.fail);
}

function reporting(fail: (reason: unknown) => void): Action {
  const isBusy = ref(false);
  async function act(work: () => unknown): Promise<boolean> {
    isBusy.value = true;
    try {
      await work();
      return true;
    } catch (reason) {
      fail(reason);
      return false;
    } finally {
      isBusy.value = false;
    }
  }
  return { isBusy, act };
}
