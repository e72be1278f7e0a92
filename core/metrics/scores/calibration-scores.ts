import { checkClassification } from '../checks.ts';
import { mostProbableClass } from '../classification.ts';
import type { Probabilities } from '../stacks.ts';
import { totalWeight, type Weights } from '../weights.ts';

/** As in `calibration.ts`. */
const BINS = 15;

/**
 * Class-wise calibration error, 1/K sum_k sum_b |b|/N |share of class k in b - mean p_k in b|, over 15 bins (lower,
 * upper] of equal width of each class's probability. From 0 to 1.
 *
 * Source: Kull et al., "Beyond temperature scaling: obtaining well-calibrated multiclass probabilities with Dirichlet
 * calibration", NeurIPS 2019, equation 3.
 *
 * @param targets class indices, shape `[N]`
 * @param weights shape `[N]`
 */
export function classwiseCalibrationError(
  probabilities: Probabilities,
  targets: Int32Array,
  weights?: Weights,
): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  const { classes, samples, values } = probabilities;
  // Each class and bin has the samples of the class minus the sum of its probabilities.
  const gaps = new Float64Array(classes * BINS);
  for (let sample = 0; sample < samples; sample++) {
    for (let label = 0; label < classes; label++) {
      const probability = values[sample * classes + label];
      const bin = Math.min(Math.max(Math.ceil(probability * BINS) - 1, 0), BINS - 1);
      gaps[label * BINS + bin] += (weights?.[sample] ?? 1) * ((targets[sample] === label ? 1 : 0) - probability);
    }
  }
  return gaps.reduce((sum, gap) => sum + Math.abs(gap), 0) / (totalWeight(samples, weights) * classes);
}

/**
 * Calibration error of equal mass: like `expectedCalibrationError`, but its 15 bins hold equally many samples, ordered
 * by confidence (their numbers differ by at most 1, the larger bins first). With fewer than 15 samples each is a bin.
 * If samples have weights, each bin holds a fifteenth of these; a sample between two bins counts in both, by its parts.
 *
 * Source: Nguyen and O'Connor, "Posterior calibration and exploratory analysis for natural language processing models",
 * EMNLP 2015.
 *
 * @param targets class indices, shape `[N]`
 * @param weights shape `[N]`
 */
export function equalMassCalibrationError(
  probabilities: Probabilities,
  targets: Int32Array,
  weights?: Weights,
): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  const { classes, samples, values } = probabilities;
  const chosen = mostProbableClass(probabilities);
  const confidence = Float64Array.from(chosen, (label, sample) => values[sample * classes + label]);
  const order = Uint32Array.from(confidence.keys()).sort((left, right) => confidence[left] - confidence[right]);
  const total = totalWeight(samples, weights);
  const endOf = (bin: number): number =>
    weights === undefined ? bin * Math.floor(samples / BINS) + Math.min(bin, samples % BINS) : (bin * total) / BINS;
  let [error, gap, bin, before] = [0, 0, 1, 0];
  for (const sample of order) {
    const own = (chosen[sample] === targets[sample] ? 1 : 0) - confidence[sample];
    let left = weights?.[sample] ?? 1;
    while (bin < BINS && before + left > endOf(bin)) {
      const part = endOf(bin) - before;
      error += Math.abs(gap + part * own);
      gap = 0;
      before += part;
      left -= part;
      bin++;
    }
    gap += left * own;
    before += left;
  }
  return (error + Math.abs(gap)) / total;
}
