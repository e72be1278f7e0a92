import { useTimeoutFn } from '@vueuse/core';
import { type ComputedRef, onScopeDispose, watch } from 'vue';
import type { HubApi } from '../../../../core/protocol/pages/rpc.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import type { RunView } from '../../../../core/protocol/pages/run-views.ts';
import { useHub, useHubClient } from '../../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../../composables/use-loaded.ts';
import type { ChartSeries } from '../../../charts/types.ts';
import { labelOf, readLine } from './compared-line.ts';

/** Pause between readings of runs that train: each reading transfers thousands of points. */
const followMs = 1000;

/** The runs of a comparison, and those that could not be read, with the reason. */
export interface Compared {
  runs: RunView[];
  missing: { id: string; reason: string }[];
}

/** The compared runs. They are read again when one of them starts, ends, or gets its first metrics. */
export function useComparedRuns(ids: ComputedRef<string[]>): Loaded<Compared> {
  const hub = useHub();
  const loaded = useLoaded(() => readEach(hub, ids.value));
  watch(ids, () => void loaded.reload());
  const end = useHubClient().on('runsChanged', ({ changed, isPartial }) => {
    const statuses = new Map(loaded.data.value?.runs.map(({ row }) => [row.id, row.status]));
    const isChanged = changed.some(({ id, status }) => statuses.has(id) && statuses.get(id) !== status);
    if (isPartial || isChanged) void loaded.reload();
  });
  onScopeDispose(end);
  repeat(async () => {
    const lacksMetrics = loaded.data.value?.runs.some(
      ({ metrics, row }) => row.status === 'running' && metrics.length === 0,
    );
    if (lacksMetrics) await loaded.reload();
  });
  return loaded;
}

/** Reads each run for itself, because one that was deleted must not hide the others. */
async function readEach(hub: Pick<HubApi, 'run'>, ids: readonly string[]): Promise<Compared> {
  const read = await Promise.allSettled(ids.map((id) => hub.run(id)));
  return {
    runs: read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    missing: read.flatMap((one, place) =>
      one.status === 'rejected' ? [{ id: ids[place], reason: messageOf(one.reason) }] : [],
    ),
  };
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
