import { useTimeoutFn } from '@vueuse/core';
import { type ComputedRef, onScopeDispose, watch } from 'vue';
import type { RunView } from '../../../../core/protocol/pages/run-views.ts';
import { useHub, useHubClient } from '../../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../../composables/use-loaded.ts';
import type { ChartSeries } from '../../../charts/types.ts';
import { labelOf, readLine } from './compared-line.ts';

/** Pause between readings of runs that train: each reading transfers thousands of points. */
const followMs = 1000;

/** The compared runs. They are read again when one of them starts, ends, or gets its first metrics. */
export function useComparedRuns(ids: ComputedRef<string[]>): Loaded<RunView[]> {
  const hub = useHub();
  const loaded = useLoaded(() => Promise.all(ids.value.map((id) => hub.run(id))));
  watch(ids, () => void loaded.reload());
  const end = useHubClient().on('runsChanged', ({ changed, isPartial }) => {
    const statuses = new Map(loaded.data.value?.map(({ row }) => [row.id, row.status]));
    const isChanged = changed.some(({ id, status }) => statuses.has(id) && statuses.get(id) !== status);
    if (isPartial || isChanged) void loaded.reload();
  });
  onScopeDispose(end);
  repeat(async () => {
    const lacksMetrics = loaded.data.value?.some(
      ({ metrics, row }) => row.status === 'running' && metrics.length === 0,
    );
    if (lacksMetrics) await loaded.reload();
  });
  return loaded;
}

/** One line for each run: the ensemble's metric, with the band of its members. Lines of runs that train are extended. */
export function useComparedLines(runs: ComputedRef<RunView[]>, metric: ComputedRef<string>): Loaded<ChartSeries[]> {
  const hub = useHub();
  const ended = new EndedLines();
  /** A new reading may be thinned differently, so each gets its own version. */
  let version = 0;

  const loaded = useLoaded(async () => {
    version += 1;
    const [asked, turn] = [metric.value, version];
    const lines = await Promise.all(
      runs.value.map(async (run, rank) => {
        const look = { version: turn, rank, label: labelOf(run, runs.value) };
        return ended.get(run, asked, rank) ?? readLine(hub, run, asked, look);
      }),
    );
    const found = lines.filter((line) => line !== null);
    ended.keep(runs.value, asked, found);
    return found;
  });
  watch([runs, metric], () => void loaded.reload());
  repeat(async () => {
    if (runs.value.some(isRunning)) await loaded.reload();
  });
  return loaded;
}

/** The lines of runs that have ended, for one metric: they are read once. */
class EndedLines {
  #lines = new Map<string, ChartSeries>();
  #metric = '';

  get(run: RunView, metric: string, rank: number): ChartSeries | null {
    const line = metric === this.#metric && !isRunning(run) ? this.#lines.get(run.row.id) : undefined;
    return line === undefined ? null : { ...line, rank };
  }

  keep(runs: readonly RunView[], metric: string, lines: readonly ChartSeries[]): void {
    const ended = new Set(runs.filter((run) => !isRunning(run)).map(({ row }) => row.id));
    this.#lines = new Map(lines.filter(({ id }) => ended.has(id)).map((line) => [line.id, line]));
    this.#metric = metric;
  }
}

function isRunning({ row }: RunView): boolean {
  return row.status === 'running';
}

/** Repeats an action while the component lives and its page is visible, with a pause after each time. */
function repeat(action: () => Promise<void>): void {
  let isOver = false;
  onScopeDispose(() => (isOver = true));
  const { start } = useTimeoutFn(() => void tick(), followMs);
  async function tick(): Promise<void> {
    if (!document.hidden) await action();
    if (!isOver) start();
  }
}
