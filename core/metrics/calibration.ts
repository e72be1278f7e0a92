import { checkClassification } from './checks.ts';
import { mostProbableClass } from './classification.ts';
import type { Probabilities } from './stacks.ts';
import { totalWeight, type Weights } from './weights.ts';

/** The number in Guo et al. (2017) and in the example of torch-distributed-ensemble. */
const BINS = 15;

/** The samples whose confidence lies in (lower, upper]. */
export interface ReliabilityBin {
  /** Lower edge, exclusive. */
  lower: number;
  /** Upper edge, inclusive. */
  upper: number;
  /** Number of samples; with weights their sum. */
  count: number;
  /** Mean probability of the chosen class; NaN in an empty bin. */
  confidence: number;
  /** Share of samples whose chosen class is the target; NaN in an empty bin. */
  accuracy: number;
}

/**
 * Expected calibration error, sum_b count_b / N |accuracy_b - confidence_b|, over 15 bins of equal width of the
 * confidence in the most probable class. From 0 to 1.
 *
 * Source: Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", ICML 2017, equation 3, with the
 * same bins (lower, upper]; a confidence of 0 belongs to the first. Early versions of torchmetrics (`norm="l1"`) used
 * these bins too; it now uses [lower, upper) and one more bin for exactly 1. The results differ only for samples
 * exactly on an edge.
 *
 * @param targets class indices, shape `[N]`
 * @param weights shape `[N]`: counts, accuracies and confidences of the bins are weighted
 * @throws RangeError when shapes differ, a probability is outside [0, 1] or a target outside [0, K)
 */
export function expectedCalibrationError(probabilities: Probabilities, targets: Int32Array, weights?: Weights): number {
  const total = totalWeight(probabilities.samples, weights);
  return reliabilityBins(probabilities, targets, weights)
    .filter((bin) => bin.count !== 0)
    .reduce((sum, bin) => sum + (bin.count / total) * Math.abs(bin.accuracy - bin.confidence), 0);
}

/**
 * The bins of a reliability diagram, shape `[15]`: those that {@link expectedCalibrationError} sums. If any probability
 * is not finite, the counts, confidences and accuracies of all bins are NaN.
 *
 * @param targets class indices, shape `[N]`
 * @param weights shape `[N]`
 * @throws RangeError as {@link expectedCalibrationError}
 */
export function reliabilityBins(
  probabilities: Probabilities,
  targets: Int32Array,
  weights?: Weights,
): ReliabilityBin[] {
  const finite = checkClassification(probabilities, targets);
  const counts = new Float64Array(BINS).fill(finite ? 0 : NaN);
  const confidences = new Float64Array(BINS);
  const hits = new Float64Array(BINS);
  const chosenClasses = finite ? mostProbableClass(probabilities) : new Int32Array();
  chosenClasses.forEach((chosen, sample) => {
    const confidence = probabilities.values[sample * probabilities.classes + chosen];
    const bin = binOf(confidence);
    const weight = weights?.[sample] ?? 1;
    counts[bin] += weight;
    confidences[bin] += weight * confidence;
    if (chosen === targets[sample]) hits[bin] += weight;
  });
  return Array.from(counts, (count, bin) => ({
    lower: bin / BINS,
    upper: (bin + 1) / BINS,
    count,
    confidence: confidences[bin] / count,
    accuracy: hits[bin] / count,
  }));
}

function binOf(confidence: number): number {
  const bin = Math.ceil(confidence * BINS) - 1;
  return Math.min(Math.max(bin, 0), BINS - 1);
}
