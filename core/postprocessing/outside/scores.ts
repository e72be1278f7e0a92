import { eachMember, memberProbabilities, memberRow } from '../../metrics/predictions.ts';
import { unbiasedVariance } from '../../metrics/regression.ts';
import type { StackedClasses, StackedLogits, StackedValues } from '../../metrics/stacks.ts';
import { mutualInformation, predictiveEntropy } from '../../metrics/uncertainty.ts';
import { memberLogProbabilities } from '../calibration/mixture.ts';
import { type OutsideScore, type PredictionScore, predictionScoreNames } from '../schema.ts';
import { asPairs, eachSample, softplus } from '../label-answers.ts';
import type { ClassSamples, LabelSamples, ValueSamples } from '../held-out.ts';
import { isDistanceScore } from './distances.ts';

/** Predictions of N samples, with the distances that were measured. */
export type ScoredSamples =
  | Pick<ClassSamples, 'kind' | 'stack' | 'distances'>
  | Pick<LabelSamples, 'kind' | 'stack' | 'distances'>
  | Pick<ValueSamples, 'kind' | 'means' | 'columns' | 'distances'>;

/** The scores that suit the predictions: one member has no variance of values. */
export function scoresFor(samples: ScoredSamples): readonly OutsideScore[] {
  const ofPredictions: readonly OutsideScore[] =
    samples.kind !== 'values' ? predictionScoreNames : samples.means.members > 1 ? ['variance'] : [];
  return [...ofPredictions, ...Object.keys(samples.distances ?? {}).filter(isDistanceScore)];
}

/**
 * A score of samples, shape `[N]`.
 * @throws RangeError for a score that does not suit the predictions, or a distance that was not measured
 */
export function outsideScoresOf(score: OutsideScore, samples: ScoredSamples): Float64Array {
  if (isDistanceScore(score)) {
    const found = samples.distances?.[score];
    if (found !== undefined) return found;
    throw new RangeError(`There are no distances of the samples for the score "${score}".`);
  }
  if (samples.kind === 'classes') return classOutsideScores(score, samples.stack);
  if (samples.kind === 'labels') return labelOutsideScores(score, samples.stack);
  return valueOutsideScores(score, samples.means, samples.columns);
}

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
      return eachSample(meanLogits(stack), stack.classes, (row) => {
        const largest = row.reduce((most, value) => Math.max(most, value), -Infinity);
        return -(largest + Math.log(row.reduce((sum, value) => sum + Math.exp(value - largest), 0)));
      });
    case 'max-logit':
      return eachSample(
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
  return eachSample(unbiasedVariance(means), columns, (row) => row.reduce((sum, value) => sum + value, 0) / columns);
}

/**
 * Scores that are larger for samples unlike the training data, shape `[N]`. `entropy`, `mutual-information` and
 * `variance` are sums over the labels of those of classes, with each label as two of them. Of the members' mean logits
 * z̄:
 *
 * - `energy`, −sum_l log(1 + exp(z̄_l)) (Wang, Liu, Bocchieri and Li, "Can multi-label classification networks know
 *   what they don't know?", NeurIPS 2021);
 * - `max-logit`, −max_l z̄_l.
 *
 * @param stack a logit for each label, shape `[M, N, L]`
 */
export function labelOutsideScores(score: PredictionScore, stack: StackedLogits): Float64Array {
  const labels = stack.classes;
  if (score !== 'energy' && score !== 'max-logit') {
    const each = classOutsideScores(score, asPairs(stack));
    return eachSample(each, labels, (own) => own.reduce((sum, value) => sum + value, 0));
  }
  const logits = meanLabelLogits(stack);
  if (score === 'energy') return eachSample(logits, labels, (own) => -own.reduce((sum, z) => sum + softplus(z), 0));
  return eachSample(logits, labels, (own) => -own.reduce((most, z) => Math.max(most, z), -Infinity));
}

function probabilityVariance(stack: StackedClasses): Float64Array {
  const rows = eachMember(stack.members, (member) => memberProbabilities(stack, member).values);
  const variances = new Float64Array(stack.samples * stack.classes).map((_, index) => {
    const mean = rows.reduce((sum, row) => sum + row[index], 0) / rows.length;
    return rows.reduce((sum, row) => sum + (row[index] - mean) ** 2, 0) / rows.length;
  });
  return eachSample(variances, stack.classes, (row) => row.reduce((sum, value) => sum + value, 0));
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

function meanLabelLogits(stack: StackedLogits): Float64Array {
  const rows = eachMember(stack.members, (member) => memberRow(stack, member));
  return new Float64Array(rows[0].length).map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);
}
