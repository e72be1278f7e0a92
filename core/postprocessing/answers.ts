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
import { classLosses, labelLosses, valueLosses } from './selective/losses.ts';

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

/** Confidence of the answers and loss of each sample, shape `[N]`: 1 for a wrong class, the share of wrong labels, the mean squared error of values. */
export function confidenceAndLosses(fitted: Fitted, samples: HeldOut) {
  if (samples.kind === 'classes') {
    const { confidence, probabilities } = applyTo(fitted, samples);
    return { confidence, losses: classLosses(probabilities, samples.targets) };
  }
  if (samples.kind === 'labels') {
    const { confidence, probabilities } = applyTo(fitted, samples);
    return { confidence, losses: labelLosses(probabilities, samples) };
  }
  const { columns, levels, targets } = samples;
  const { confidence, mean } = applyTo(fitted, samples);
  return { confidence, losses: valueLosses(mean, targets, columns, levels) };
}
