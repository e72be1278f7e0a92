import { onScopeDispose, type Ref, ref, shallowRef, watch } from 'vue';
import type { RunPreview } from '../../../core/protocol/pages/rpc.ts';
import { useHubClient } from '../../client/use-hub.ts';
import { messageOf } from '../../text/errors.ts';

/** The user's pause that ends a change. */
const pauseMs = 200;

/** What the hub says of a request, asked for whenever it changes; the last answer stays until the next has come. */
export function usePreview<Request>(
  request: Readonly<Ref<Request>>,
  askHub: (request: Request) => Promise<RunPreview>,
): {
  preview: Readonly<Ref<RunPreview | null>>;
  error: Readonly<Ref<string | null>>;
} {
  const client = useHubClient();
  const preview = shallowRef<RunPreview | null>(null);
  const error = ref<string | null>(null);
  let timer: ReturnType<typeof setTimeout> | undefined;
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

  watch(
    request,
    () => {
      turn += 1;
      clearTimeout(timer);
      timer = setTimeout(() => void ask(), preview.value === null ? 0 : pauseMs);
    },
    { immediate: true },
  );
  const end = client.on('returned', () => void ask());
  onScopeDispose(() => {
    end();
    clearTimeout(timer);
  });
  return { preview, error };
}
