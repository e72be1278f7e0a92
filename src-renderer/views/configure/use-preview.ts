import { useTimeoutFn } from '@vueuse/core';
import { onScopeDispose, type Ref, ref, shallowRef, watch } from 'vue';
import type { RunPreview } from '../../../core/protocol/pages/project-views.ts';
import { useHubClient } from '../../client/use-hub.ts';
import { messageOf } from '../../../core/text/errors.ts';

/** How long the user must pause before a change is sent. */
const pauseMs = 200;

export interface Preview {
  preview: Readonly<Ref<RunPreview | null>>;
  error: Readonly<Ref<string | null>>;
}

/**
 * The hub's preview of a request, asked for whenever the request changes; the last answer stays until the next arrives.
 */
export function usePreview<Request>(
  request: Readonly<Ref<Request>>,
  askHub: (request: Request) => Promise<RunPreview>,
): Preview {
  const client = useHubClient();
  const preview = shallowRef<RunPreview | null>(null);
  const error = ref<string | null>(null);
  let turn = 0;

  async function ask(): Promise<void> {
    const own = ++turn;
    try {
      const answer = await askHub(request.value);
      if (own !== turn) return;
      preview.value = answer;
      error.value = null;
    } catch (reason) {
      if (own === turn) error.value = messageOf(reason);
    }
  }

  const { start } = useTimeoutFn(
    () => void ask(),
    () => (preview.value === null ? 0 : pauseMs),
    { immediate: false },
  );
  watch(
    request,
    () => {
      // An answer that is still on its way belongs to the previous request.
      turn += 1;
      start();
    },
    { immediate: true },
  );
  onScopeDispose(client.on('returned', () => void ask()));
  return { preview, error };
}
