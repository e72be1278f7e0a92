import { checkClassification, checkShape } from './checks.ts';
import { logLikelihoods, nllOf } from './likelihood.ts';
import type { Probabilities } from './stacks.ts';
import { totalWeight, weightedMean, type Weights } from './weights.ts';

/**
 * Negative log-likelihood in nats, -1/N sum_n log p[n, y_n]: from 0 up, Infinity where a target has probability 0.
 *
 * Equals `F.cross_entropy` of PyTorch, computed in float64. The example of torch-distributed-ensemble adds 1e-8 to each
 * probability; that caps the NLL at 18.42 and hides how wrong an overconfident member is.
 *
 * @param targets class indices, shape `[N]`
 * @throws RangeError when shapes differ, a probability is outside [0, 1] or a target outside [0, K)
 */
export function negativeLogLikelihood(probabilities: Probabilities, targets: Int32Array): number {
  return nllOf(logLikelihoods(probabilities, targets));
}

/**
 * Share of samples whose most probable class is the target; the first class wins a tie. Every sample has the same
 * weight (torchmetrics: `average="micro"`), unless weights are given.
 *
 * @param targets class indices, shape `[N]`
 * @param weights shape `[N]`
 * @throws RangeError as {@link negativeLogLikelihood}
 */
export function accuracy(probabilities: Probabilities, targets: Int32Array, weights?: Weights): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  return weightedMean(
    mostProbableClass(probabilities).map((chosen, sample) => (chosen === targets[sample] ? 1 : 0)),
    weights,
  );
}

/**
 * Brier score, 1/N sum_n sum_k (p[n, k] - [k = y_n])^2: from 0 to 2.
 *
 * The original form, summed over all classes (Brier, "Verification of forecasts expressed in terms of probability",
 * Monthly Weather Review 78, 1950); for two classes it is twice the one-sided form.
 *
 * @param targets class indices, shape `[N]`
 * @param weights shape `[N]`
 * @throws RangeError as {@link negativeLogLikelihood}
 */
export function brierScore(probabilities: Probabilities, targets: Int32Array, weights?: Weights): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  const { samples, classes, values } = probabilities;
  let sum = 0;
  for (let sample = 0; sample < samples; sample++) {
    for (let label = 0; label < classes; label++) {
      const expected = label === targets[sample] ? 1 : 0;
      sum += (weights?.[sample] ?? 1) * (values[sample * classes + label] - expected) ** 2;
    }
  }
  return sum / totalWeight(samples, weights);
}

/**
 * Counts of samples by class and by most probable class: element `[i, j]` is the number of samples of class i that are
 * taken for class j, as `sklearn.metrics.confusion_matrix` counts them, shape `[K, K]`, row by row.
 *
 * @param chosen the most probable class, shape `[N]`
 * @param targets class indices, shape `[N]`
 * @throws RangeError when shapes differ or a class is outside [0, K)
 */
export function confusionMatrix(chosen: Int32Array, targets: Int32Array, classes: number): Int32Array {
  checkShape('targets', targets, [chosen.length]);
  const counts = new Int32Array(classes * classes);
  for (const [sample, target] of targets.entries()) {
    for (const [name, label] of [
      ['target', target],
      ['chosen class', chosen[sample]],
    ] as const) {
      if (!(label >= 0 && label < classes)) {
        throw new RangeError(
          `The ${name} of sample ${sample} is ${label}: with ${classes} classes it is from 0 to ${classes - 1}.`,
        );
      }
    }
    counts[target * classes + chosen[sample]] += 1;
  }
  return counts;
}

/**
 * Index of the most probable class of every sample, shape `[N]`. The first wins a tie, as in NumPy. Probabilities must
 * be finite: callers check this, because a row with NaN has no most probable class.
 *
 * @param probabilities - shape `[N, K]`
 */
export function mostProbableClass({ samples, classes, values }: Probabilities): Int32Array {
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
