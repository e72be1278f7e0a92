import { estimate, type Estimate } from '../../../numeric/estimate.ts';
import type { RunRecord } from '../record.ts';
import { finishedRuns } from './sweep-scores.ts';

/** How a metric of the ensembles differs between two sweeps that trained with the same seeds. */
export interface PairedDifference {
  set: string;
  split: string;
  metric: string;
  /** The mean of second − first over the seeds. */
  difference: Estimate;
}

type ScoredRun = Pick<RunRecord, 'status' | 'summary' | 'config'>;

/**
 * The differences second − first of the ensembles' metrics between runs with the same base seed: their mean, and its
 * standard error s / √n over the n seeds that both have finished. What a seed does to both alike, such as an easy test
 * split, cancels, so that this error is often much smaller than those of the two means. Values that are missing, NaN or
 * infinite do not count.
 *
 * Source: Bouthillier et al., "Accounting for variance in machine learning benchmarks", MLSys 2021 (pairing).
 */
export function pairedDifferences(first: readonly ScoredRun[], second: readonly ScoredRun[]): PairedDifference[] {
  const others = new Map(finishedRuns(second).map((run) => [run.config.seed, run]));
  const pairs = finishedRuns(first).flatMap((run) => {
    const other = others.get(run.config.seed);
    return other === undefined ? [] : [[valuesOf(run), valuesOf(other)] as const];
  });
  const keys = new Map(
    pairs.flatMap(([left]) => [...left].map(([key, { set, split, metric }]) => [key, { set, split, metric }])),
  );
  return [...keys].flatMap(([key, place]) => {
    const values = pairs.map(([left, right]) => (right.get(key)?.value ?? NaN) - (left.get(key)?.value ?? NaN));
    const difference = estimate(values.filter((value) => Number.isFinite(value)));
    return difference.count === 0 ? [] : [{ ...place, difference }];
  });
}

interface Value {
  set: string;
  split: string;
  metric: string;
  value: number;
}

function valuesOf({ summary }: ScoredRun): Map<string, Value> {
  const values = (summary?.evaluatedSets ?? []).flatMap(({ set, split, ensemble }) =>
    Object.entries(ensemble).map(([metric, value]) => ({ set, split, metric, value })),
  );
  return new Map(values.map((value) => [`${value.set} ${value.split} ${value.metric}`, value]));
}
