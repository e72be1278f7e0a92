import { softmax, type StackedClasses, toTwoClasses, toTwoLogits } from './predictions.ts';

/** Gathered or saved predictions of a classifier's members. */
export interface PredictedClasses {
  /** Runs of earlier versions saved probabilities. */
  kind: 'logits' | 'probabilities';
  /** M. */
  members: number;
  /** N. */
  samples: number;
  /** W, outputs per sample: K, or 1 for a binary task. */
  width: number;
  /** Shape `[M, N, W]`, row-major. */
  values: Float32Array;
}

/**
 * Converts predictions to the form that metrics take. The one output of a binary task becomes two classes.
 *
 * @param predictions - of all members
 */
export function stackedClasses({ kind, members, samples, width, values }: PredictedClasses): StackedClasses {
  const shape = { members, samples, classes: width };
  if (kind === 'logits') return width === 1 ? toTwoLogits({ members, samples, values }) : { ...shape, logits: values };
  return width === 1 ? toTwoClasses({ members, samples, values }) : { ...shape, values };
}

/**
 * Converts probabilities `[..., W]` to logits whose softmax (sigmoid if W = 1) they are, in the same shape. A probability of 0
 * counts as 2^-149, the smallest positive float32.
 */
export function logitsOf(probabilities: Float32Array, width: number): Float32Array<ArrayBuffer> {
  const logarithm = (value: number) => Math.log(Math.max(value, 2 ** -149));
  return Float32Array.from(probabilities, (value) => logarithm(value) - (width === 1 ? logarithm(1 - value) : 0));
}

/** Softmax (sigmoid if W = 1) of logits `[..., W]` in float32, in the same shape. */
export function probabilitiesOf(logits: Float32Array, width: number): Float32Array<ArrayBuffer> {
  if (width === 1) return Float32Array.from(logits, (logit) => 1 / (1 + Math.exp(-logit)));
  return Float32Array.from(softmax(Float64Array.from(logits), width).values);
}
