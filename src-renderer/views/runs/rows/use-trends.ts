import { useThrottleFn } from '@vueuse/core';
import { onScopeDispose, shallowRef, watch } from 'vue';
import type { RunRow } from '../../../../core/protocol/pages/run-list.ts';
import { useHub } from '../../../client/use-hub.ts';
import { useToastsStore } from '../../../stores/toasts.ts';

/** While rows scroll and runs train, the hub is asked this often at most. */
const everyMs = 500;
/** Runs of one request. */
const mostRuns = 60;

/**
 * The course of the monitored metric of the runs in view. Each is read once, and again when its run has a new best
 * value or has ended.
 * @param inView the runs whose trends are shown
 */
export function useTrends(inView: () => readonly RunRow[]): (id: string) => Float64Array | undefined {
  const hub = useHub();
  const toasts = useToastsStore();
  const trends = shallowRef<ReadonlyMap<string, { of: string; points: Float64Array }>>(new Map());
  let isReading = false;
  let isGone = false;
  onScopeDispose(() => (isGone = true));

  async function read(): Promise<void> {
    const lacking = inView().filter((row) => trends.value.get(row.id)?.of !== stateOf(row));
    if (lacking.length === 0 || isReading || isGone) return;
    isReading = true;
    const asked = lacking.slice(0, mostRuns);
    let found = 0;
    await toasts.attempt(async () => {
      const answer = await hub.trends(asked.map(({ id }) => id));
      const fresh = asked.flatMap((row) => {
        const points = answer[row.id];
        return points === undefined ? [] : [[row.id, { of: stateOf(row), points }] as const];
      });
      found = fresh.length;
      trends.value = new Map([...trends.value, ...fresh]);
    });
    isReading = false;
    // What the hub had no time for. Where it answers nothing, it is not asked again until the rows change.
    if (found > 0) void read();
  }
  const reread = useThrottleFn(() => void read(), everyMs, true);
  watch(
    () =>
      inView()
        .map((row) => `${row.id} ${stateOf(row)}`)
        .join(),
    () => void reread(),
    { immediate: true },
  );
  return (id) => trends.value.get(id)?.points;
}

function stateOf({ endedAt, best }: RunRow): string {
  return `${endedAt} ${best?.epoch} ${best?.value}`;
}
