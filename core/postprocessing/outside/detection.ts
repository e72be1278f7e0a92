import { weightedQuantile, type Weights } from '../../metrics/weights.ts';
import { areaUnderRoc, averagePrecision } from '../../metrics/scores/ranking.ts';

/** How well a score tells samples outside the training data from those inside. */
export interface DetectionFigures {
  /** Area under the ROC curve; 0.5 by chance. */
  auroc: number;
  /** Average precision with the samples inside as positives (by their negative scores). */
  auprIn: number;
  /** Average precision with the samples outside as positives. */
  auprOut: number;
  /** Share of the samples inside that score at least as high as the threshold that finds 95 % of those outside. */
  fpr95: number;
}

/**
 * Figures of a score that should be larger for samples outside the training data. NaN where a score is not finite.
 *
 * Source: Hendrycks and Gimpel, "A baseline for detecting misclassified and out-of-distribution examples in neural
 * networks", ICLR 2017; samples outside are the positives.
 *
 * @param inside scores of samples like the training data, shape `[N]`
 * @param outside scores of other samples, shape `[L]`
 */
export function detectionFigures(inside: Float64Array, outside: Float64Array): DetectionFigures {
  const all = new Float64Array(inside.length + outside.length);
  all.set(inside);
  all.set(outside, inside.length);
  const isOutside = (sample: number): boolean => sample >= inside.length;
  return {
    auroc: areaUnderRoc(all, isOutside),
    auprIn: averagePrecision(
      all.map((score) => -score),
      (sample) => !isOutside(sample),
    ),
    auprOut: averagePrecision(all, isOutside),
    fpr95: falsePositiveRate(inside, outside, 0.95),
  };
}

/** Share of `inside` at or above the largest threshold at which at least `recall` of `outside` is. */
function falsePositiveRate(inside: Float64Array, outside: Float64Array, recall: number): number {
  if (!(inside.every(Number.isFinite) && outside.every(Number.isFinite))) return NaN;
  const descending = outside.toSorted().toReversed();
  const needed = Math.max(1, Math.ceil(recall * descending.length - 1e-9));
  const threshold = descending[needed - 1];
  return inside.filter((score) => score >= threshold).length / inside.length;
}

/**
 * The score that a share `quantile` of the given scores does not exceed: the ⌈quantile · n⌉-th smallest.
 *
 * @param scores of held-out samples like the training data, shape `[N]`
 * @param weights of these samples, shape `[N]`
 */
export function outsideThreshold(scores: Float64Array, quantile: number, weights?: Weights): number {
  return weightedQuantile(scores, quantile, weights);
}
