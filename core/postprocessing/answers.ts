import {
  applyToClasses,
  applyToLabels,
  applyToValues,
  type ClassAnswers,
  type Fitted,
  type LabelAnswers,
  type ValueAnswers,
} from './apply.ts';
import type { ClassSamples, HeldOut, LabelSamples, ValueSamples } from './held-out.ts';
import { eachSample } from './label-answers.ts';
import { mostProbableClass } from '../metrics/classification.ts';
import type { Probabilities } from '../metrics/stacks.ts';

/** The answers for held-out samples, without how far these are from the training data. */
export function applyTo(fitted: Fitted, samples: ClassSamples): ClassAnswers;
export function applyTo(fitted: Fitted, samples: LabelSamples): LabelAnswers;
export function applyTo(fitted: Fitted, samples: ValueSamples): ValueAnswers;
export function applyTo(fitted: Fitted, samples: HeldOut): ClassAnswers | LabelAnswers | ValueAnswers {
  // How far a sample is from the training data has its own figures.
  const answering = { ...fitted, outside: null };
  if (samples.kind === 'classes') return applyToClasses(answering, samples.stack);
  if (samples.kind === 'labels') return applyToLabels(answering, samples.stack);
  return applyToValues(answering, samples.means, samples.variances, samples.columns);
}

/**
 * Confidence of the answers and loss of each sample, shape `[N]`: 1 for a wrong class, the share of wrong labels, the
 * mean squared error of values.
 */
export function confidenceAndLosses(fitted: Fitted, samples: HeldOut) {
  if (samples.kind === 'classes') {
    const { confidence, probabilities } = applyTo(fitted, samples);
    return { confidence, losses: classLosses(probabilities, samples.targets) };
  }
  if (samples.kind === 'labels') {
    const { confidence, probabilities } = applyTo(fitted, samples);
    return { confidence, losses: labelLosses(probabilities, samples) };
  }
  const { confidence, mean } = applyTo(fitted, samples);
  return { confidence, losses: valueLosses(mean, samples) };
}

/** 1 where the most probable class is not the target, else 0: shape `[N]`. */
function classLosses(probabilities: Probabilities, targets: Int32Array): Float64Array {
  const chosen = mostProbableClass(probabilities);
  return Float64Array.from(targets, (target, sample) => (chosen[sample] === target ? 0 : 1));
}

/**
 * The share of a sample's labels that are decided wrongly, present above a probability of 1/2; of those that count.
 * Shape `[N]`; 0 where none counts.
 *
 * @param probabilities shape `[N, L]`
 */
function labelLosses(probabilities: Float64Array, { targets, stack, counted }: LabelSamples): Float64Array {
  return eachSample(probabilities, stack.classes, (own, sample) => {
    let [wrong, count] = [0, 0];
    own.forEach((p, label) => {
      const index = sample * stack.classes + label;
      if (counted?.[index] === 0) return;
      count += 1;
      if (p > 0.5 !== (targets[index] === 1)) wrong += 1;
    });
    return count === 0 ? 0 : wrong / count;
  });
}

/**
 * Squared errors averaged over a sample's targets that count, shape `[N]`, 0 where none does; of quantiles the squared
 * error of the one nearest to the median.
 *
 * @param mean shape `[N, W]`
 */
function valueLosses(mean: Float64Array, { targets, columns, levels, counted }: ValueSamples): Float64Array {
  if (levels !== null) {
    const distances = levels.map((level) => Math.abs(level - 0.5));
    const median = distances.indexOf(Math.min(...distances));
    return Float64Array.from(targets, (target, sample) => (mean[sample * columns + median] - target) ** 2);
  }
  return eachSample(mean, columns, (own, sample) => {
    let [sum, count] = [0, 0];
    own.forEach((value, column) => {
      const index = sample * columns + column;
      if (counted?.[index] === 0) return;
      count += 1;
      sum += (value - targets[index]) ** 2;
    });
    return count === 0 ? 0 : sum / count;
  });
}
