import { type ComputedRef, watch } from 'vue';
import { messageOf } from '../../../../../core/text/errors.ts';
import { useHub } from '../../../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../../../composables/use-loaded.ts';
import type { ChartSeries } from '../../../../charts/types.ts';
import { repeatWhileVisible } from '../../../../composables/repeat-while-visible.ts';
import { type ComparedSubject, labelOf, trains } from '../compared-subject.ts';
import { type LineReading, readSubjectLines } from './compared-line.ts';

/** More bands than this hide each other. */
export const mostBands = 8;
/** A screen cannot show more points of one line. */
const mostPoints = 4000;
/** Of all lines of a panel, so that 50 runs draw as fast as 10. */
const mostPanelPoints = 40_000;

export interface ComparedLines {
  byMetric: ReadonlyMap<string, readonly ChartSeries[]>;
  /** Why lines of a run could not be read. */
  problems: string[];
}

/**
 * One line for each run and metric: the ensemble's metric, with the band of its members; for each sweep the mean over
 * its runs, with the band of its standard error. Lines of runs that train are extended.
 */
export function useComparedLines(
  subjects: ComputedRef<readonly ComparedSubject[]>,
  metrics: ComputedRef<readonly string[]>,
): Loaded<ComparedLines> {
  const hub = useHub();
  const ended = new EndedLines();
  /** A new reading may be thinned differently, so each gets its own version. */
  let version = 0;

  const loaded = useLoaded(async () => {
    version += 1;
    const [all, reading, turn] = [subjects.value, readingOf(subjects.value.length, metrics.value), version];
    const read = await Promise.allSettled(
      all.map(async (subject, rank) => {
        const look = { version: turn, rank, label: labelOf(subject, all) };
        const known = ended.get(subject, reading, look);
        return known ?? readSubjectLines(hub, subject, reading, look);
      }),
    );
    const lines = read.map((one) => (one.status === 'fulfilled' ? one.value : null));
    ended.keep(all, reading, lines);
    return {
      byMetric: new Map(reading.metrics.map((metric) => [metric, lines.flatMap((own) => own?.get(metric) ?? [])])),
      problems: read.flatMap((one) => (one.status === 'rejected' ? [messageOf(one.reason)] : [])),
    };
  });
  watch([subjects, () => metrics.value.join()], () => void loaded.reload());
  repeatWhileVisible(async () => {
    if (subjects.value.some(trains)) await loaded.reload();
  });
  return loaded;
}

function readingOf(subjects: number, metrics: readonly string[]): LineReading {
  const maximumPoints = Math.min(mostPoints, Math.floor(mostPanelPoints / Math.max(subjects, 1)));
  return { metrics, hasBands: subjects <= mostBands, maximumPoints };
}

/** The lines of what has ended: they are read once, until a sweep has another run or other lines are asked for. */
class EndedLines {
  #lines = new Map<string, ReadonlyMap<string, ChartSeries>>();

  get(
    subject: ComparedSubject,
    reading: LineReading,
    { rank, label }: Pick<ChartSeries, 'rank' | 'label'>,
  ): ReadonlyMap<string, ChartSeries> | null {
    const lines = trains(subject) ? undefined : this.#lines.get(keyOf(subject, reading));
    if (lines === undefined) return null;
    return new Map([...lines].map(([metric, line]) => [metric, { ...line, rank, label }]));
  }

  keep(
    subjects: readonly ComparedSubject[],
    reading: LineReading,
    lines: readonly (ReadonlyMap<string, ChartSeries> | null)[],
  ): void {
    this.#lines = new Map(
      subjects.flatMap((subject, place) => {
        const own = lines[place];
        return own === null || trains(subject) ? [] : [[keyOf(subject, reading), own]];
      }),
    );
  }
}

function keyOf({ id, runs }: ComparedSubject, reading: LineReading): string {
  return JSON.stringify([id, runs.length, reading]);
}
