import type { Probabilities } from '../../metrics/stacks.ts';
import { weightedQuantile, type Weights } from '../../metrics/weights.ts';
import type { ConformalIntervals, ConformalSets } from '../schema.ts';
import { classScores, type SetScore } from './class-sets.ts';
import { type IntervalCentres, targetScores } from './intervals.ts';

/**
 * The ⌈(n + 1)(1 − α)⌉-th smallest of n scores: a new score exchangeable with them is at most this with a probability
 * of at least 1 − α. Infinity where n is too small for that.
 *
 * With weights it is the smallest score q at which the weights of all scores up to q reach 1 − α of the sum of all
 * weights, including that of a new sample. As the weight of a new sample is unknown, it counts as the largest of the
 * given ones: the coverage holds for all new samples up to that weight.
 *
 * Sources: Vovk, Gammerman and Shafer, "Algorithmic learning in a random world", 2005; Lei et al. (2018); with weights
 * Tibshirani, Barber, Candès and Ramdas, "Conformal prediction under covariate shift", NeurIPS 2019, lemma 3.
 *
 * @param weights shape `[N]`
 */
export function conformalQuantile(scores: Float64Array, alpha: number, weights?: Weights): number {
  const further = weights?.reduce((most, weight) => Math.max(most, weight), 0) ?? 1;
  return weightedQuantile(scores, 1 - alpha, weights, further);
}

/** How many samples of equal weights a finite quantile needs, n ≥ 1/α − 1. */
export const neededForThreshold = (alpha: number): number => Math.ceil(1 / alpha - 1 - 1e-9);

/**
 * Fits thresholds of conformal sets on held-out probabilities.
 *
 * @param probabilities calibrated ones of the ensemble, shape `[N, K]`
 * @param targets class indices, shape `[N]`
 * @param weights of the samples, shape `[N]`
 * @param isClassConditional one threshold for each class, from the samples of that class alone (Mondrian): the coverage
 * holds for each class
 */
export function fitSets(
  score: SetScore & { alpha: number },
  probabilities: Probabilities,
  targets: Int32Array,
  isClassConditional: boolean,
  weights?: Weights,
): ConformalSets {
  const { classes } = probabilities;
  const all = classScores(score, probabilities);
  const own = Float64Array.from(targets, (target, sample) => all[sample * classes + target]);
  const labels = Array.from({ length: isClassConditional ? classes : 1 }, (_, label) => label);
  const isOf = (label: number) => (_: number, sample: number) => !isClassConditional || targets[sample] === label;
  return {
    kind: 'sets',
    ...score,
    thresholds: labels.map((label) =>
      conformalQuantile(own.filter(isOf(label)), score.alpha, weights?.filter(isOf(label))),
    ),
    isClassConditional,
    counts: labels.map((label) => own.filter(isOf(label)).length),
  };
}

/**
 * Fits margins of conformal intervals on held-out values, one for each of T targets, from the samples that have it.
 *
 * @param centres see {@link IntervalCentres}
 * @param targets shape `[N, T]`
 * @param quantiles positions of the two predicted quantiles, for `cqr`
 * @param weights shape `[N, T]`: 0 for targets that do not count
 */
export function fitIntervals(
  method: ConformalIntervals['method'],
  alpha: number,
  centres: IntervalCentres,
  targets: ArrayLike<number>,
  columns: number,
  quantiles: [number, number] | null = null,
  weights?: Weights,
): ConformalIntervals {
  const scores = targetScores(method, centres, targets);
  const ofColumns = Array.from({ length: columns }, (_, column) => {
    const isOwn = (_value: number, index: number): boolean => index % columns === column && weights?.[index] !== 0;
    return { own: scores.filter(isOwn), weights: weights?.filter(isOwn) };
  });
  const margins = ofColumns.map(({ own, weights: ownWeights }) => conformalQuantile(own, alpha, ownWeights));
  const counts = ofColumns.map(({ own }) => own.length);
  return { kind: 'intervals', method, alpha, margins, quantiles, counts };
}
