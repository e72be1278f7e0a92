import { useIntervalFn } from '@vueuse/core';
import { watch } from 'vue';
import type { LogLine } from '../../../core/protocol/pages/run-views.ts';
import { useHub } from '../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../composables/use-loaded.ts';
import type { RunStore } from '../../stores/run.ts';

/** The page holds at most the newest lines. */
export const maximumLines = 20_000;
/** The hub does not announce new lines, so the page polls. */
const pollMs = 1_000;

/** The merged log of a run's ranks, read again every second while the run trains. */
export function useLogs(run: RunStore, shown: () => readonly number[]): Loaded<LogLine[]> {
  const hub = useHub();
  const logs = useLoaded(() => hub.logs(run.id, { ranks: [...shown()], limit: maximumLines }));
  useIntervalFn(() => {
    if (run.status === 'running' && !logs.isLoading.value) void logs.reload();
  }, pollMs);
  // The last lines arrive as the run ends.
  watch([() => shown().join(), () => run.status], () => void logs.reload());
  return logs;
}
