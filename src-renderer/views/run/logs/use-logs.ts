import { onScopeDispose, watch } from 'vue';
import type { LogLine } from '../../../../core/protocol/pages/rpc.ts';
import { useHub } from '../../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../../composables/use-loaded.ts';
import type { RunStore } from '../../../stores/run.ts';

/** Lines a page holds at most, the newest. */
export const maximumLines = 20_000;
/** The hub does not tell of new lines, so a page that shows them asks. */
const askEveryMs = 1_000;

/** The merged log of a run's ranks: read anew every second while it trains. */
export function useLogs(run: RunStore, shown: () => readonly number[]): Loaded<LogLine[]> {
  const hub = useHub();
  const logs = useLoaded(() => hub.logs(run.id, { ranks: [...shown()], limit: maximumLines }));
  const timer = setInterval(() => {
    if (run.status === 'running' && !logs.isLoading.value) void logs.reload();
  }, askEveryMs);
  onScopeDispose(() => clearInterval(timer));
  // The last lines come as the run ends.
  watch([() => shown().join(), () => run.status], () => void logs.reload());
  return logs;
}
