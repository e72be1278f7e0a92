import { computed, type ComputedRef, onScopeDispose, type Ref } from 'vue';
import type { WaitingRun } from '../../../core/protocol/pages/runs/run-queue.ts';
import { useHubClient } from '../../client/use-hub.ts';
import { useLoaded } from '../../composables/use-loaded.ts';
import { useSessionStore } from '../../stores/session.ts';
import { useToastsStore } from '../../stores/toasts.ts';

export interface Queue {
  runs: ComputedRef<readonly WaitingRun[]>;
  error: Readonly<Ref<string | null>>;
  move(run: WaitingRun, place: number): Promise<void>;
  start(run: WaitingRun): Promise<void>;
  remove(run: WaitingRun): Promise<void>;
}

/** The queue of waiting runs, live. A link for watching does not see it. */
export function useQueue(): Queue {
  const client = useHubClient();
  const { hub } = client;
  const session = useSessionStore();
  const toasts = useToastsStore();
  const loaded = useLoaded(async () => (session.isWatcher ? [] : hub.queue()));
  onScopeDispose(client.on('queueChanged', () => void loaded.reload()));
  const runs = computed(() => loaded.data.value ?? []);

  async function remove(run: WaitingRun): Promise<void> {
    const place = runs.value.findIndex(({ id }) => id === run.id);
    await toasts.attempt(async () => {
      await hub.removeWaiting(run.id);
      toasts.tell(`${run.name} was removed from the queue.`, async () => {
        const { id } = await hub.enqueueRun(run.request);
        await hub.moveWaiting(id, place);
      });
    });
  }
  return {
    runs,
    error: loaded.error,
    move: ({ id }, place) => toasts.attempt(() => hub.moveWaiting(id, place)),
    start: ({ id }) => toasts.attempt(async () => void (await hub.startWaiting(id))),
    remove,
  };
}
