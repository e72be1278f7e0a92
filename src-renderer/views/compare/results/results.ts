import { type MetricMode, modeOfMetric } from '../../../../core/metrics/metric-mode.ts';
import { type Estimate, estimate } from '../../../../core/numeric/estimate.ts';
import type { EvaluatedSet, RunRecord, RunStatus } from '../../../../core/protocol/run/record.ts';
import { finishedRuns } from '../../../../core/protocol/run/sweep/sweep-scores.ts';
import { metricLabel } from '../../../../core/text/numbers.ts';
import type { ComparedSubject } from '../compared-subject.ts';
import type { RouteLocationRaw } from 'vue-router';
import { sweepStatus } from '../../../../core/protocol/pages/sweep-summary.ts';
import { pairedDifferences } from '../../../../core/protocol/run/sweep/paired-differences.ts';
import { type Verdict, verdictOf } from './results-order.ts';

/** A number by which runs are compared when they have ended. */
export interface Result {
  /** The name in addresses: `best val/ens_nll`, `last val/ens_acc`, `final test nll`. */
  id: string;
  label: string;
  /** Whether smaller or larger values are better; null if neither is. */
  mode: MetricMode | null;
  /**
   * The value of a run, with a count of 1; of a sweep the mean over its finished runs. A count of 0 where there is
   * none.
   */
  of: (subject: ComparedSubject) => Estimate;
}

/** The best value of each monitored metric. */
export function bestResults(subjects: readonly ComparedSubject[]): Result[] {
  const metrics = subjects.flatMap(({ runs }) => runs.flatMap(({ row }) => row.best?.metric ?? []));
  return [...new Set(metrics)].map((metric) => ({
    id: `best ${metric}`,
    label: `best ${metricLabel(metric)}`,
    mode: modeIn(subjects, metric),
    of: ({ sweep, runs }) => {
      const counted = sweep === null ? runs : runs.filter(({ row }) => row.status === 'finished');
      return over(
        counted.map(({ row: { best } }) => (best?.metric === metric ? best.value : undefined)),
        sweep !== null,
      );
    },
  }));
}

/** The last values of metrics on the validation split. A run that trains has none. */
export function lastResults(subjects: readonly ComparedSubject[], metrics: readonly string[]): Result[] {
  return metrics.map((metric) => ({
    id: `last ${metric}`,
    label: `last ${metricLabel(metric)}`,
    mode: modeIn(subjects, metric),
    of: (subject) => ofRecords(subject, ({ summary }) => summary?.metrics[metric]),
  }));
}

/** A set of checkpoints on a split. */
type SetPlace = Pick<EvaluatedSet, 'set' | 'split'>;

/** The sets that any of the runs evaluated, in the order of their first appearance. */
export function evaluatedPlaces(subjects: readonly ComparedSubject[]): SetPlace[] {
  const found = recordsOf(subjects).flatMap(({ summary }) => summary?.evaluatedSets ?? []);
  return [...new Map(found.map(({ set, split }) => [`${set} ${split}`, { set, split }])).values()];
}

/**
 * Metrics that tables of sets show, those that most ask for first, and of members that answer by their product that
 * before the mean's.
 */
const shownMetrics = ['nll', 'mse', 'acc', 'ece', 'brier', 'pinball', 'crps', 'auroc'].flatMap((name) => [
  `product_${name}`,
  name,
]);

/** The metrics of the sets that tables show, of those that any set has. */
export function setMetrics(subjects: readonly ComparedSubject[]): string[] {
  const sets = recordsOf(subjects).flatMap(({ summary }) => summary?.evaluatedSets ?? []);
  return shownMetrics.filter((metric) => sets.some(({ ensemble }) => metric in ensemble));
}

/** What the ensembles score with a set of checkpoints. */
export function setResult(subjects: readonly ComparedSubject[], { set, split }: SetPlace, metric: string): Result {
  return {
    id: `${set} ${split} ${metric}`,
    label: `${metricLabel(metric)}, ${set} on ${split}`,
    mode: modeIn(subjects, metric),
    of: (subject) =>
      ofRecords(
        subject,
        ({ summary }) =>
          summary?.evaluatedSets.find((found) => found.set === set && found.split === split)?.ensemble[metric],
      ),
  };
}

/** All results: the best and the last values, then those of the sets. */
export function allResults(subjects: readonly ComparedSubject[], metrics: readonly string[]): Result[] {
  const ofSets = evaluatedPlaces(subjects).flatMap((place) =>
    setMetrics(subjects).map((metric) => setResult(subjects, place, metric)),
  );
  return [...bestResults(subjects), ...lastResults(subjects, metrics), ...ofSets].filter(({ of }) =>
    subjects.some((subject) => of(subject).count > 0),
  );
}

/** The direction in which a metric improves: of a project's own metric as the project says. */
export function modeIn(subjects: readonly ComparedSubject[], metric: string): MetricMode | null {
  const name = metric.slice(metric.lastIndexOf('/') + 1).replace(/^(ens|product)_/, '');
  const own = recordsOf(subjects)
    .flatMap(({ metrics }) => metrics ?? [])
    .find((one) => one.name === name);
  if (own === undefined) return modeOfMetric(metric) ?? null;
  return own.direction === 'none' ? null : own.direction;
}

function ofRecords({ sweep, runs }: ComparedSubject, valueOf: (record: RunRecord) => number | undefined): Estimate {
  const records = runs.map(({ record }) => record);
  return over((sweep === null ? records : finishedRuns(records)).map(valueOf), sweep !== null);
}

/** A single value stays as it is, also NaN; of a sweep only finite values count, as in its own table. */
function over(values: readonly (number | undefined)[], isSweep: boolean): Estimate {
  return estimate(values.filter((value) => value !== undefined && (!isSweep || Number.isFinite(value))) as number[]);
}

function recordsOf(subjects: readonly ComparedSubject[]): RunRecord[] {
  return subjects.flatMap(({ runs }) => runs.map(({ record }) => record));
}

export function statusOf({ sweep, runs }: ComparedSubject): RunStatus {
  const records = runs.map(({ record }) => record);
  return sweep === null ? records[0].status : sweepStatus(sweep, records);
}

/** The page of a run, or of a sweep. */
export function linkOf({ id, sweep }: Pick<ComparedSubject, 'id' | 'sweep'>): RouteLocationRaw {
  return sweep === null ? { name: 'run', params: { id } } : { name: 'compare', query: { runs: id } };
}

/** How many seeds of a sweep have finished: `2 of 3`; of a run `1`. */
export function seedsOf({ sweep, runs }: ComparedSubject): string {
  return sweep === null ? '1' : `${finishedRuns(runs.map(({ record }) => record)).length} of ${sweep.of}`;
}

/** How long the attempts that have ended trained, in seconds; of a sweep the sum over its runs. */
export function trainedSecondsOf({ runs }: ComparedSubject): number {
  return runs.reduce((sum, { row }) => sum + row.trainedSeconds, 0);
}

/** How a metric of a sweep differs from that of the reference, seed by seed. */
interface PairedRow {
  set: string;
  split: string;
  metric: string;
  difference: Estimate;
  /** The mean difference in units of its standard error; NaN if that is unknown or 0. */
  errors: number;
  verdict: Verdict | null;
}

interface PairedSweep {
  subject: ComparedSubject;
  /** Empty where no seed has finished in both sweeps. */
  rows: PairedRow[];
}

/** The sweep with which the others are paired: the baseline if it is one, else the first; null if there is only one. */
export function pairedReference(
  subjects: readonly ComparedSubject[],
  baseline: ComparedSubject | null,
): ComparedSubject | null {
  const sweeps = subjects.filter(({ sweep }) => sweep !== null);
  if (sweeps.length < 2) return null;
  return baseline !== null && baseline.sweep !== null ? baseline : sweeps[0];
}

/** The differences of all other sweeps from the reference, in the metrics that tables show. */
export function pairedSweeps(subjects: readonly ComparedSubject[], reference: ComparedSubject): PairedSweep[] {
  const shown = setMetrics(subjects);
  const recordsOf = ({ runs }: ComparedSubject) => runs.map(({ record }) => record);
  return subjects
    .filter(({ id, sweep }) => sweep !== null && id !== reference.id)
    .map((subject) => ({
      subject,
      rows: pairedDifferences(recordsOf(reference), recordsOf(subject))
        .filter(({ metric }) => shown.includes(metric))
        .map((paired) => {
          const { mean, standardError } = paired.difference;
          return {
            ...paired,
            errors: standardError > 0 ? mean / standardError : NaN,
            verdict: verdictOf(mean, standardError, modeIn(subjects, paired.metric)),
          };
        }),
    }));
}
