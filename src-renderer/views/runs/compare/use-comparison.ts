import { useTimeoutFn } from '@vueuse/core';
import { type ComputedRef, onScopeDispose, watch } from 'vue';
import type { RunView } from '../../../../core/protocol/pages/run-views.ts';
import { useHub, useHubClient } from '../../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../../composables/use-loaded.ts';
import type { ChartSeries } from '../../../charts/types.ts';
import { readSubjectLine } from './compared-line.ts';
import { type Compared, type ComparedSubject, labelOf, readSubjects } from './compared-subject.ts';

/** Pause between readings of runs that train: each reading transfers thousands of points. */
const followMs = 1000;

/** What is compared. It is read again when one of its runs starts, ends, or gets its first metrics. */
export function useComparedSubjects(ids: ComputedRef<string[]>): Loaded<Compared> {
  const hub = useHub();
  const loaded = useLoaded(() => readSubjects(hub, ids.value));
  const runsOf = (): RunView[] => (loaded.data.value?.subjects ?? []).flatMap(({ runs }) => runs);
  watch(ids, () => void loaded.reload());
  const end = useHubClient().on('runsChanged', ({ changed, isPartial }) => {
    const statuses = new Map(runsOf().map(({ row }) => [row.id, row.status]));
    const isChanged = changed.some(({ id, status, sweep }) =>
      statuses.has(id) ? statuses.get(id) !== status : sweep !== null && ids.value.includes(sweep.id),
    );
    if (isPartial || isChanged) void loaded.reload();
  });
  onScopeDispose(end);
  repeat(async () => {
    const lacksMetrics = runsOf().some((run) => isRunning(run) && run.metrics.length === 0);
    if (lacksMetrics) await loaded.reload();
  });
  return loaded;
}

/**
 * One line for each run: the ensemble's metric, with the band of its members; for each sweep the mean over its runs, with the band of its standard error. Lines of runs
 * that train are extended.
 */
export function useComparedLines(
  subjects: ComputedRef<ComparedSubject[]>,
  metric: ComputedRef<string>,
): Loaded<ChartSeries[]> {
  const hub = useHub();
  const ended = new EndedLines();
  /** A new reading may be thinned differently, so each gets its own version. */
  let version = 0;

  const loaded = useLoaded(async () => {
    version += 1;
    const [asked, turn] = [metric.value, version];
    const lines = await Promise.all(
      subjects.value.map(async (subject, rank) => {
        const look = { version: turn, rank, label: labelOf(subject, subjects.value) };
        return ended.get(subject, asked, rank) ?? readSubjectLine(hub, subject, asked, look);
      }),
    );
    const found = lines.filter((line) => line !== null);
    ended.keep(subjects.value, asked, found);
    return found;
  });
  watch([subjects, metric], () => void loaded.reload());
  repeat(async () => {
    if (subjects.value.some(trains)) await loaded.reload();
  });
  return loaded;
}

/** The lines of what has ended, for one metric: they are read once, until a sweep has another run. */
class EndedLines {
  #lines = new Map<string, ChartSeries>();
  #metric = '';

  get(subject: ComparedSubject, metric: string, rank: number): ChartSeries | null {
    const line = metric === this.#metric && !trains(subject) ? this.#lines.get(keyOf(subject)) : undefined;
    return line === undefined ? null : { ...line, rank };
  }

  keep(subjects: readonly ComparedSubject[], metric: string, lines: readonly ChartSeries[]): void {
    const keys = new Map(subjects.filter((subject) => !trains(subject)).map((subject) => [subject.id, keyOf(subject)]));
    this.#lines = new Map(
      lines.flatMap((line) => {
        const key = keys.get(line.id);
        return key === undefined ? [] : [[key, line]];
      }),
    );
    this.#metric = metric;
  }
}

function keyOf({ id, runs }: ComparedSubject): string {
  return `${id} ${runs.length}`;
}

function trains({ runs }: ComparedSubject): boolean {
  return runs.some(isRunning);
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
