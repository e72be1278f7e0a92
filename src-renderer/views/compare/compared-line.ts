import type { HubApi } from '../../../core/protocol/pages/hub-methods.ts';
import type { RunView } from '../../../core/protocol/pages/run-views.ts';
import type { MetricPoints } from '../../../core/protocol/wire/points.ts';
import type { ChartSeries } from '../../charts/types.ts';
import { columnsOf } from '../../stores/metric-columns.ts';
import { LineColumnsCache } from '../run/charts/line-columns.ts';
import { anchorsOf, startMs } from '../run/live/run-times.ts';
import { stepsPerEpoch } from '../run/run-facts.ts';
import { type ComparedSubject, labelOf, trains } from './compared-subject.ts';
import { estimate } from '../../../core/numeric/estimate.ts';
import { type ComputedRef, watch } from 'vue';
import { messageOf } from '../../../core/text/errors.ts';
import { useHub } from '../../client/use-hub.ts';
import { type Loaded, repeatWhileVisible, useLoaded } from '../../composables/use-loaded.ts';

/** What is read of each line. */
interface LineReading {
  metrics: readonly string[];
  /** Whether a run's line has the band of its members. */
  hasBands: boolean;
  /** Most points of one line. */
  maximumPoints: number;
}

type Look = Pick<ChartSeries, 'version' | 'rank' | 'label'>;

/**
 * The lines of a run, or the mean lines of a sweep's runs, by metric. A metric that none of its runs has is left out.
 */
export async function readSubjectLines(
  hub: Pick<HubApi, 'series'>,
  { id, sweep, runs }: ComparedSubject,
  reading: LineReading,
  look: Look,
): Promise<Map<string, ChartSeries>> {
  if (sweep === null) return readLines(hub, runs[0], reading, look);
  const ofRuns = await Promise.all(runs.map((run) => readLines(hub, run, { ...reading, hasBands: false }, look)));
  return new Map(
    reading.metrics.flatMap((metric) => {
      const found = ofRuns.map((lines) => lines.get(metric)).filter((line) => line !== undefined);
      return found.length === 0 ? [] : [[metric, { ...look, id, role: 'other', ...meanLine(found) }]];
    }),
  );
}

/** The lines of a run's ensemble metrics, with the bands of its members. */
async function readLines(
  hub: Pick<HubApi, 'series'>,
  run: RunView,
  { metrics, hasBands, maximumPoints }: LineReading,
  look: Look,
): Promise<Map<string, ChartSeries>> {
  const own = metrics.filter((metric) => run.metrics.includes(metric));
  // No names would ask for all metrics.
  if (own.length === 0) return new Map();
  const names = own.flatMap((metric) => [metric, ...(hasBands ? memberNamesOf(metric, run.metrics) : [])]);
  const { series } = await hub.series(run.row.id, { names, maximumPoints, fromStep: null, toStep: null });
  const byName = new Map(series.map((columns) => [columns.name, columns]));
  return new Map(
    own.flatMap((metric) => {
      const ensemble = byName.get(metric);
      if (ensemble === undefined) return [];
      const members = hasBands ? memberNamesOf(metric, run.metrics).flatMap((name) => byName.get(name) ?? []) : [];
      return [[metric, lineOf(run, ensemble, members, look)]];
    }),
  );
}

function lineOf(run: RunView, ensemble: MetricPoints, members: readonly MetricPoints[], look: Look): ChartSeries {
  return {
    ...look,
    id: run.row.id,
    role: 'other',
    x: axesOf(run, ensemble),
    y: ensemble.value,
    length: ensemble.value.length,
    band: members.length === 0 ? undefined : memberBand(ensemble, members),
  };
}

/** Steps, fractional epochs, and seconds since the run's start. */
function axesOf(run: RunView, points: MetricPoints): ChartSeries['x'] {
  const cache = new LineColumnsCache({
    stepsPerEpoch: stepsPerEpoch(run),
    startMs: startMs(run.record),
    anchors: () => anchorsOf(run),
  });
  return cache.columnsOf(columnsOf(points, 0)).x;
}

/** The smallest and largest member value at each step of the ensemble's line; NaN where no member has a point. */
interface MemberBand {
  lower: Float64Array;
  upper: Float64Array;
}

/** The member metrics for an ensemble metric: `val/member_0_nll` and so on for `val/ens_nll` or `val/product_nll`. */
export function memberNamesOf(ensembleMetric: string, names: readonly string[]): string[] {
  const [, before, after] = /^(.*\/)(?:ens|product)_(.+)$/.exec(ensembleMetric) ?? [];
  if (before === undefined) return [];
  return names.filter((name) => {
    const [, rank] = name.startsWith(`${before}member_`) ? (/member_(\d+)_/.exec(name) ?? []) : [];
    return rank !== undefined && name === `${before}member_${rank}_${after}`;
  });
}

export function memberBand(ensemble: MetricPoints, members: readonly MetricPoints[]): MemberBand {
  const place = new Map(Array.from(ensemble.step, (step, index) => [step, index]));
  const lower = new Float64Array(ensemble.step.length).fill(NaN);
  const upper = new Float64Array(ensemble.step.length).fill(NaN);
  for (const { step, value } of members) {
    for (const [index, at] of step.entries()) {
      const target = place.get(at);
      if (target === undefined || Number.isNaN(value[index])) continue;
      lower[target] = Number.isNaN(lower[target]) ? value[index] : Math.min(lower[target], value[index]);
      upper[target] = Number.isNaN(upper[target]) ? value[index] : Math.max(upper[target], value[index]);
    }
  }
  return { lower, upper };
}

/** A line of one run, without its look. */
type RunLine = Pick<ChartSeries, 'x' | 'y' | 'length'>;

/**
 * The mean of the lines of a sweep's runs at each step, with the mean ± its standard error (s / √n, n − 1) as the area
 * behind it. Between the points of a run its value is interpolated; after its end, and where it is NaN, the others
 * alone count. The area is absent where fewer than two do.
 */
export function meanLine(lines: readonly RunLine[]): Pick<ChartSeries, 'x' | 'y' | 'length' | 'band'> {
  const steps = [...new Set(lines.flatMap(({ x, length }) => Array.from(x.step.subarray(0, length))))].sort(
    (left, right) => left - right,
  );
  const step = Float64Array.from(steps);
  const values = lines.map(({ x, y, length }) => interpolate(x.step, y, length, step));
  const [y, lower, upper] = [step, step, step].map(() => new Float64Array(step.length).fill(NaN));
  for (let index = 0; index < step.length; index++) {
    const known = values.map((own) => own[index]).filter((value) => Number.isFinite(value));
    if (known.length === 0) continue;
    const { mean, standardError } = estimate(known);
    y[index] = mean;
    lower[index] = mean - standardError;
    upper[index] = mean + standardError;
  }
  return {
    x: { step, epoch: meanOf(lines, 'epoch', step), time: meanOf(lines, 'time', step) },
    y,
    length: step.length,
    band: { lower, upper },
  };
}

/** Where the runs were at each step, on average: runs differ a little in their times. */
function meanOf(lines: readonly RunLine[], axis: 'epoch' | 'time', step: Float64Array): Float64Array {
  const columns = lines.flatMap(({ x, length }) => {
    const column = x[axis];
    return column === null ? [] : [interpolate(x.step, column, length, step)];
  });
  const means = step.map((_, index) => {
    const known = columns.map((column) => column[index]).filter((value) => Number.isFinite(value));
    return estimate(known).mean;
  });
  // Where a slow run ends, the mean time of the others may be earlier. A line never goes back.
  for (let index = 1; index < means.length; index++) {
    if (means[index] < means[index - 1]) means[index] = means[index - 1];
  }
  return means;
}

/**
 * The values at `at`, which is ascending: on the straight line between two points, NaN before the first and after the
 * last.
 */
function interpolate(
  steps: ArrayLike<number>,
  values: ArrayLike<number>,
  length: number,
  at: Float64Array,
): Float64Array {
  let right = 0;
  return at.map((step) => {
    while (right < length && steps[right] < step) right++;
    if (right === length) return NaN;
    if (steps[right] === step) return values[right];
    if (right === 0) return NaN;
    const share = (step - steps[right - 1]) / (steps[right] - steps[right - 1]);
    return values[right - 1] + share * (values[right] - values[right - 1]);
  });
}

/** More bands than this hide each other. */
export const mostBands = 8;
/** A screen cannot show more points of one line. */
const mostPoints = 4000;
/** Of all lines of a panel, so that 50 runs draw as fast as 10. */
const mostPanelPoints = 40_000;

interface ComparedLines {
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
