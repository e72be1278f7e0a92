import { checkClassification } from './checks.ts';
import type { Probabilities } from './predictions.ts';

/** Keeps log finite for a probability of 0; the value of torch-distributed-ensemble. */
const EPSILON = 1e-8;

/**
 * Negative log-likelihood in nats, -1/N sum_n log(p[n, y_n] + 1e-8): from -1e-8 to 18.42.
 *
 * Of the mean probabilities it is the ensemble's NLL. As `F.nll_loss(torch.log(p + 1e-8), target)` in
 * torch-distributed-ensemble, but in float64.
 *
 * @param targets class indices, shape `[N]`
 * @throws RangeError when shapes differ, a probability is outside [0, 1] or a target outside [0, K)
 */
export function negativeLogLikelihood(probabilities: Probabilities, targets: Int32Array): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  const { samples, classes, values } = probabilities;
  let sum = 0;
  for (let sample = 0; sample < samples; sample++) {
    sum -= Math.log(values[sample * classes + targets[sample]] + EPSILON);
  }
  return sum / samples;
}

/**
 * Share of samples whose most probable class is the target; the first class wins a tie. Every sample counts the same
 * (torchmetrics: `average="micro"`).
 *
 * @param targets class indices, shape `[N]`
 * @throws RangeError as {@link negativeLogLikelihood}
 */
export function accuracy(probabilities: Probabilities, targets: Int32Array): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  const correct = mostProbableClass(probabilities).filter((chosen, sample) => chosen === targets[sample]);
  return correct.length / probabilities.samples;
}

/**
 * Brier score, 1/N sum_n sum_k (p[n, k] - [k = y_n])^2: from 0 to 2.
 *
 * The original form, summed over all classes (Brier, "Verification of forecasts expressed in terms of probability",
 * Monthly Weather Review 78, 1950); for two classes it is twice the one-sided form.
 *
 * @param targets class indices, shape `[N]`
 * @throws RangeError as {@link negativeLogLikelihood}
 */
export function brierScore(probabilities: Probabilities, targets: Int32Array): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  const { samples, classes, values } = probabilities;
  let sum = 0;
  for (let sample = 0; sample < samples; sample++) {
    for (let label = 0; label < classes; label++) {
      const expected = label === targets[sample] ? 1 : 0;
      sum += (values[sample * classes + label] - expected) ** 2;
    }
  }
  return sum / samples;
}

/**
 * Index of the most probable class of every sample, shape `[N]`. The first wins a tie, as in NumPy. Only for finite
 * probabilities: callers look first, since a row with NaN has no most probable class.
 */
export function mostProbableClass(probabilities: Probabilities): Int32Array {
  const { samples, classes, values } = probabilities;
  const chosen = new Int32Array(samples);
  for (let sample = 0; sample < samples; sample++) {
    const start = sample * classes;
    let best = start;
    for (let index = start + 1; index < start + classes; index++) {
      if (values[index] > values[best]) best = index;
    }
    chosen[sample] = best - start;
  }
  return chosen;
}
