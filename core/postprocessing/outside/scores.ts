import { eachMember, memberProbabilities, memberRow } from '../../metrics/predictions.ts';
import { unbiasedVariance } from '../../metrics/regression.ts';
import type { StackedClasses, StackedValues } from '../../metrics/stacks.ts';
import { mutualInformation, predictiveEntropy } from '../../metrics/uncertainty.ts';
import { memberLogProbabilities } from '../calibration/mixture.ts';
import type { OutsideScore, PredictionScore } from '../schema.ts';

/**
 * Scores that are larger for samples unlike the training data, shape `[N]`:
 *
 * - `entropy` of the mean probabilities, in nats;
 * - `mutual-information` between class and member, in nats;
 * - `energy`, −log sum_k exp(z̄_k) of the members' mean logits z̄ (Liu et al., "Energy-based out-of-distribution
 *   detection", NeurIPS 2020);
 * - `max-logit`, −max_k z̄_k (Hendrycks et al., "Scaling out-of-distribution detection for real-world settings", ICML
 *   2022);
 * - `variance`, sum_k 1/M sum_m (p_mk − p̄_k)².
 *
 * The logits of two classes are centred, since only their difference has a meaning. Members that give probabilities
 * have these logarithms as logits.
 *
 * @param stack probabilities or logits, shape `[M, N, K]`
 */
export function classOutsideScores(score: PredictionScore, stack: StackedClasses): Float64Array {
  switch (score) {
    case 'entropy':
      return predictiveEntropy(stack);
    case 'mutual-information':
      return mutualInformation(stack);
    case 'variance':
      return probabilityVariance(stack);
    case 'energy':
      return eachRow(meanLogits(stack), stack.classes, (row) => {
        const largest = row.reduce((most, value) => Math.max(most, value), -Infinity);
        return -(largest + Math.log(row.reduce((sum, value) => sum + Math.exp(value - largest), 0)));
      });
    case 'max-logit':
      return eachRow(
        meanLogits(stack),
        stack.classes,
        (row) => -row.reduce((most, value) => Math.max(most, value), -Infinity),
      );
  }
}

/**
 * The unbiased variance of the members' means, averaged over the T targets of a sample: shape `[N]`.
 *
 * @param means shape `[M, N · T]`
 * @throws RangeError for another score: values have no other
 */
export function valueOutsideScores(score: OutsideScore, means: StackedValues, columns: number): Float64Array {
  if (score !== 'variance') {
    throw new RangeError(`The score "${score}" is one of classes: values have the score "variance" only.`);
  }
  return eachRow(unbiasedVariance(means), columns, (row) => row.reduce((sum, value) => sum + value, 0) / columns);
}

function probabilityVariance(stack: StackedClasses): Float64Array {
  const rows = eachMember(stack.members, (member) => memberProbabilities(stack, member).values);
  const variances = new Float64Array(stack.samples * stack.classes).map((_, index) => {
    const mean = rows.reduce((sum, row) => sum + row[index], 0) / rows.length;
    return rows.reduce((sum, row) => sum + (row[index] - mean) ** 2, 0) / rows.length;
  });
  return eachRow(variances, stack.classes, (row) => row.reduce((sum, value) => sum + value, 0));
}

function meanLogits(stack: StackedClasses): Float64Array {
  const sum = new Float64Array(stack.samples * stack.classes);
  for (let member = 0; member < stack.members; member++) {
    const row = 'logits' in stack ? memberRow(stack, member) : memberLogProbabilities(stack, member, 1);
    for (let index = 0; index < sum.length; index++) sum[index] += row[index] / stack.members;
  }
  if (stack.classes !== 2) return sum;
  return sum.map((value, index) => (value - sum[index ^ 1]) / 2);
}

function eachRow(values: Float64Array, width: number, of: (row: Float64Array) => number): Float64Array {
  return new Float64Array(values.length / width).map((_, row) => of(values.subarray(row * width, (row + 1) * width)));
}
