import { checkClassification } from '../checks.ts';
import { mostProbableClass } from '../classification.ts';
import type { Probabilities } from '../stacks.ts';
import { weightedMean, type Weights } from '../weights.ts';

/** Scores of ordered classes. Arguments and errors are those of `classification.ts`; weights have shape `[N]`. */

/** Mean distance between the most probable class and the target, 1/N sum_n |argmax p_n - y_n|. */
export function classDistance(probabilities: Probabilities, targets: Int32Array, weights?: Weights): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  return weightedMean(
    mostProbableClass(probabilities).map((chosen, sample) => Math.abs(chosen - targets[sample])),
    weights,
  );
}

/**
 * Quadratic weighted kappa, 1 - sum_n (c_n - y_n)² / (1/N sum_n sum_n' (c_n - y_n')²), c_n the most probable class: 1
 * if all are right, 0 for guesses of the same distribution. NaN if all targets and choices are one class.
 *
 * Source: Cohen, "Weighted kappa: nominal scale agreement provision for scaled disagreement or partial credit", 1968.
 */
export function quadraticKappa(probabilities: Probabilities, targets: Int32Array, weights?: Weights): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  const chosen = mostProbableClass(probabilities);
  const meanOf = (values: Int32Array): number => weightedMean(values, weights);
  const found = meanOf(chosen.map((label, sample) => (label - targets[sample]) ** 2));
  // The mean of (c - y)² over all pairs.
  const squares = meanOf(chosen.map((label) => label ** 2)) + meanOf(targets.map((label) => label ** 2));
  const expected = squares - 2 * meanOf(chosen) * meanOf(targets);
  return expected === 0 ? NaN : 1 - found / expected;
}
