import type { Probabilities } from '../../metrics/stacks.ts';
import type { ConformalIntervals, ConformalSets } from '../schema.ts';
import { classScores, type SetScore } from './class-sets.ts';
import { type IntervalCentres, targetScores } from './intervals.ts';

/**
 * The ⌈(n + 1)(1 − α)⌉-th smallest of n scores: a new score exchangeable with them is at most this with a probability of at least 1 − α.
 * Infinity where n is too small for that.
 *
 * Source: Vovk, Gammerman and Shafer, "Algorithmic learning in a random world", 2005; Lei et al. (2018).
 */
export function conformalQuantile(scores: Float64Array, alpha: number): number {
  // A tolerance, because 0.1 and 0.9 are not exact: (9 + 1)(1 − 0.1) is 9.
  const rank = Math.ceil((scores.length + 1) * (1 - alpha) - 1e-9);
  if (rank > scores.length) return Infinity;
  return scores.toSorted()[Math.max(rank, 1) - 1];
}

/**
 * Fits thresholds of conformal sets on held-out probabilities.
 *
 * @param probabilities calibrated ones of the ensemble, shape `[N, K]`
 * @param targets class indices, shape `[N]`
 * @param isClassConditional one threshold for each class, from the samples of that class alone (Mondrian): the coverage holds for each class
 */
export function fitSets(
  score: SetScore & { alpha: number },
  probabilities: Probabilities,
  targets: Int32Array,
  isClassConditional: boolean,
): ConformalSets {
  const { classes } = probabilities;
  const all = classScores(score, probabilities);
  const own = Float64Array.from(targets, (target, sample) => all[sample * classes + target]);
  const ofClass = (label: number) => own.filter((_, sample) => targets[sample] === label);
  const groups = isClassConditional ? Array.from({ length: classes }, (_, label) => ofClass(label)) : [own];
  const thresholds = groups.map((scores) => conformalQuantile(scores, score.alpha));
  return { kind: 'sets', ...score, thresholds, isClassConditional };
}

/**
 * Fits margins of conformal intervals on held-out values, one for each of T targets.
 *
 * @param centres see {@link IntervalCentres}
 * @param targets shape `[N, T]`
 */
export function fitIntervals(
  method: ConformalIntervals['method'],
  alpha: number,
  centres: IntervalCentres,
  targets: ArrayLike<number>,
  columns: number,
  quantiles: [number, number] | null = null,
): ConformalIntervals {
  const scores = targetScores(method, centres, targets);
  const margins = Array.from({ length: columns }, (_, column) =>
    conformalQuantile(
      scores.filter((_, index) => index % columns === column),
      alpha,
    ),
  );
  return { kind: 'intervals', method, alpha, margins, quantiles };
}
