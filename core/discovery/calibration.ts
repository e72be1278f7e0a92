import { isHit } from './progress.ts';
import type { ArmChoice, SearchGoal } from './search.ts';

/** What a batch was predicted to be, and what came out. Legend: n labelled candidates of the batch. */
export type BatchCalibration =
  | {
      kind: 'hits';
      /** n. */
      count: number;
      /** The mean predicted probability of a hit, and the share of hits. */
      predicted: number;
      observed: number;
      /** Standard deviation of that share if the predictions are right, √(Σ p (1 − p)) / n. */
      error: number;
    }
  | {
      kind: 'values';
      count: number;
      /**
       * Mean and standard deviation of z = (label − mean) / √(deviation² + noise). Of right predictions they are 0 and
       * 1.
       */
      meanZ: number;
      deviationZ: number;
      /** Shares of the labels within 1 and 1.96 standard deviations: of right predictions 0.683 and 0.95. */
      within68: number;
      within95: number;
    };

/** What share of labels lies within 1 and 1.96 standard deviations of a Gaussian prediction. */
export const nominalShares = { within68: 0.6827, within95: 0.95 } as const;

/**
 * Compares what was predicted of a chosen batch with its labels. Candidates without a label, or without a prediction,
 * do not count.
 * @param choice means in the direction of the search: larger is better
 * @returns null where none counts
 */
export function calibrationOf(
  goal: SearchGoal,
  { indices, means, deviations, noises }: Pick<ArmChoice, 'indices' | 'means' | 'deviations' | 'noises'>,
  labels: ReadonlyMap<number, number>,
): BatchCalibration | null {
  const rows = indices.flatMap((index, at) => {
    const label = labels.get(index);
    if (label === undefined || Number.isNaN(means[at])) return [];
    return [
      {
        label,
        mean: predictedLabel(goal, means[at]),
        deviation: Math.hypot(deviations[at], Math.sqrt(noises[at] ?? 0)),
      },
    ];
  });
  const count = rows.length;
  if (count === 0) return null;
  if (goal.kind === 'class') {
    const variance = rows.reduce((sum, { mean }) => sum + mean * (1 - mean), 0);
    return {
      kind: 'hits',
      count,
      predicted: average(rows.map(({ mean }) => mean)),
      observed: average(rows.map(({ label }) => Number(isHit(goal, label)))),
      error: Math.sqrt(variance) / count,
    };
  }
  const z = rows.map(({ label, mean, deviation }) => (label - mean) / deviation);
  const meanZ = average(z);
  const within = (limit: number): number => average(z.map((own) => Number(Math.abs(own) <= limit)));
  return {
    kind: 'values',
    count,
    meanZ,
    deviationZ: Math.sqrt(average(z.map((own) => (own - meanZ) ** 2))),
    within68: within(1),
    within95: within(1.959964),
  };
}

/** A mean of a search as the label that it predicts: a search for small values has means with the other sign. */
export function predictedLabel(goal: SearchGoal, mean: number): number {
  return goal.kind === 'minimize' ? -mean : mean;
}

function average(values: readonly number[]): number {
  return values.reduce((sum, own) => sum + own, 0) / values.length;
}
