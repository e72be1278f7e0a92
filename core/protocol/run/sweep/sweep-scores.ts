import { z } from 'zod';
import { type Estimate, estimate } from '../../../numeric/estimate.ts';
import { realNumber } from '../../wire/numbers.ts';
import type { EvaluatedSet, RunRecord } from '../record.ts';

export const estimateSchema = z.strictObject({
  mean: realNumber,
  standardError: realNumber.describe('s / √n of the mean; NaN for fewer than two values'),
  count: z.int().describe('runs whose values were averaged'),
});

/** A metric of one set of checkpoints, over the runs of a sweep. */
export const sweepScoreSchema = z.strictObject({
  set: z.string(),
  split: z.string(),
  metric: z.string(),
  ensemble: estimateSchema,
  meanMember: estimateSchema.nullable().describe("of the mean over a run's members; null where members have no value"),
  leftOut: z.array(z.int()).describe('base seeds of finished runs whose value is missing, NaN or infinite'),
});
export type SweepScore = z.output<typeof sweepScoreSchema>;

export const bestEstimateSchema = z.strictObject({
  metric: z.string(),
  ...estimateSchema.shape,
  leftOut: z.array(z.int()),
});
export type BestEstimate = z.output<typeof bestEstimateSchema>;

type ScoredRun = Pick<RunRecord, 'status' | 'summary' | 'sweep' | 'config'>;

/** The runs of a sweep whose results count. A run that was stopped or failed has trained less than the others. */
export function finishedRuns<T extends Pick<RunRecord, 'status'>>(runs: readonly T[]): T[] {
  return runs.filter(({ status }) => status === 'finished');
}

/**
 * Mean and standard error of every metric over the finished runs of a sweep, for each set of checkpoints and split.
 * Values that are NaN or infinite are left out and named, never averaged.
 */
export function sweepScores(runs: readonly ScoredRun[]): SweepScore[] {
  const finished = finishedRuns(runs);
  const keys = new Map(
    finished.flatMap(({ summary }) =>
      (summary?.evaluatedSets ?? []).flatMap(({ set, split, ensemble }) =>
        Object.keys(ensemble).map((metric) => [`${set} ${split} ${metric}`, { set, split, metric }] as const),
      ),
    ),
  );
  return [...keys.values()].map((key) => ({ ...key, ...scoreOf(finished, key) }));
}

/** The best values of the monitored metric of a sweep's finished runs; null if none has one. */
export function bestOverSeeds(runs: readonly ScoredRun[]): BestEstimate | null {
  const finished = finishedRuns(runs);
  const metric = finished.map(({ summary }) => summary?.best?.metric).find((name) => name !== undefined);
  if (metric === undefined) return null;
  const values = finished.map(({ summary }) => (summary?.best?.metric === metric ? summary.best.value : NaN));
  return { metric, ...estimateOfFinite(values), leftOut: leftOutOf(finished, values) };
}

function scoreOf(
  runs: readonly ScoredRun[],
  { set, split, metric }: Pick<SweepScore, 'set' | 'split' | 'metric'>,
): Pick<SweepScore, 'ensemble' | 'meanMember' | 'leftOut'> {
  const sets = runs.map(({ summary }) =>
    summary?.evaluatedSets.find((found) => found.set === set && found.split === split),
  );
  const values = sets.map((found) => found?.ensemble[metric] ?? NaN);
  const members = sets.map((found) => meanMember(found, metric));
  const hasMembers = members.some((value) => value !== null);
  const known = members.map((value) => value ?? NaN);
  // A run counts for both or for neither, so that the two estimates are over the same seeds.
  const isWhole = (index: number): boolean =>
    Number.isFinite(values[index]) && (!hasMembers || Number.isFinite(known[index]));
  const whole = values.map((value, index) => (isWhole(index) ? value : NaN));
  return {
    ensemble: estimateOfFinite(whole),
    meanMember: hasMembers ? estimateOfFinite(known.filter((_, index) => isWhole(index))) : null,
    leftOut: leftOutOf(runs, whole),
  };
}

function meanMember(found: EvaluatedSet | undefined, metric: string): number | null {
  const values = found?.members[metric.replace(/^product_/, '')];
  return values === undefined || values.length === 0 ? null : estimate(values).mean;
}

function estimateOfFinite(values: readonly number[]): Estimate {
  return estimate(values.filter((value) => Number.isFinite(value)));
}

/** The base seeds of the runs whose value does not count. */
function leftOutOf(runs: readonly ScoredRun[], values: readonly number[]): number[] {
  return runs.flatMap(({ config }, index) => (Number.isFinite(values[index]) ? [] : [config.seed]));
}
