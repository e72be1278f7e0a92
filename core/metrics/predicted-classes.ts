import { softmax, type StackedClasses, toTwoClasses, toTwoLogits } from './predictions.ts';

/** What members of a classifier predicted, as it is gathered and kept. */
export interface PredictedClasses {
  /** Probabilities where an earlier version kept them. */
  kind: 'logits' | 'probabilities';
  members: number;
  samples: number;
  /** Outputs a sample (W): K, or 1 for a binary task. */
  width: number;
  /** shape `[M, N, W]` */
  values: Float32Array;
}

/** The same as metrics take it: the one output of a binary task becomes two classes. */
export function stackedClasses({ kind, members, samples, width, values }: PredictedClasses): StackedClasses {
  const shape = { members, samples, classes: width };
  if (kind === 'logits') return width === 1 ? toTwoLogits({ members, samples, values }) : { ...shape, logits: values };
  return width === 1 ? toTwoClasses({ members, samples, values }) : { ...shape, values };
}

/** Probabilities as logits, whose softmax (or, of one output, sigmoid) they are; a 0 counts as 2^-149, the smallest of float32. */
export function logitsOf(probabilities: Float32Array, width: number): Float32Array<ArrayBuffer> {
  const logarithm = (value: number) => Math.log(Math.max(value, 2 ** -149));
  return Float32Array.from(probabilities, (value) => logarithm(value) - (width === 1 ? logarithm(1 - value) : 0));
}

/** Probabilities in float32 of logits `[..., W]`, in their shape. */
export function probabilitiesOf(logits: Float32Array, width: number): Float32Array<ArrayBuffer> {
  if (width === 1) return Float32Array.from(logits, (logit) => 1 / (1 + Math.exp(-logit)));
  return Float32Array.from(softmax(Float64Array.from(logits), width).values);
}
