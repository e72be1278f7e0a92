import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import { gradientsOf, Value } from '../../../reference/value.ts';
import type { OpSample } from './op-case.ts';

/** A backend's errors against the reference in one draw of an op. */
export interface OpErrors {
  readonly value: number;
  /** The largest over all inputs' gradients, or null if the op has none. */
  readonly gradient: number | null;
}

/** A result as flat arrays: its value, and the gradients of Σ value · dy with respect to the inputs. */
export interface OpResult {
  readonly shape: readonly number[];
  readonly value: ArrayLike<number>;
  readonly gradients: readonly ArrayLike<number>[] | null;
}

/**
 * Compares value and gradients of a sample on the current backend with the float64 reference.
 *
 *
 * @throws when the op fails, or a shape differs
 */
export async function compareWithReference(sample: OpSample): Promise<OpErrors> {
  return errorsOf(await computeOnBackend(sample), computeReference(sample));
}

export function errorsOf(found: OpResult, expected: OpResult): OpErrors {
  if (found.shape.join() !== expected.shape.join()) {
    throw new Error(`Shape [${found.shape.join(', ')}] where [${expected.shape.join(', ')}] is expected.`);
  }
  const gradients = expected.gradients?.map((gradient, input) => {
    const other = found.gradients?.[input];
    if (other === undefined) throw new Error(`There is no gradient of input ${input}.`);
    return relativeError(other, gradient);
  });
  return { value: relativeError(found.value, expected.value), gradient: gradients?.reduce(worse, 0) ?? null };
}

/** The larger error. NaN is larger than any number. */
export function worse(error: number, other: number): number {
  return Number.isNaN(error) || Number.isNaN(other) ? NaN : Math.max(error, other);
}

/** Output gradients for a value of this size: of both signs, exact in float32. */
export function outputGradient(size: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: size }, (_, i) => 0.25 + ((i * 7) % 11) / 8 - ((i * 5) % 3));
}

export function computeReference(sample: OpSample): OpResult {
  const inputs = sample.inputs.map(({ data, shape }) => new Value(data, shape));
  const value = sample.reference(inputs);
  const gradients =
    sample.differentiable === false ? null : gradientsOf(value, outputGradient(value.data.length), inputs);
  return { shape: value.shape, value: value.data, gradients };
}

/** @param weights the output gradient; defaults to `outputGradient` */
export async function computeOnBackend(sample: OpSample, weights?: Float32Array): Promise<OpResult> {
  tf.engine().startScope();
  try {
    const inputs = sample.inputs.map(({ data, shape }) => tf.tensor(data, shape));
    const value = sample.apply(inputs);
    const result = { shape: value.shape, value: await value.data() };
    if (sample.differentiable === false) return { ...result, gradients: null };
    const dy = tf.tensor(weights ?? outputGradient(value.size), value.shape);
    const gradients = tf.grads((...args: Tensor[]) => sample.apply(args))(inputs, dy);
    return { ...result, gradients: await Promise.all(gradients.map((gradient) => gradient.data())) };
  } finally {
    tf.engine().endScope();
  }
}

/**
 * max|a − b| / max(0.5, max|b|): values that cancel to nearly 0 are compared relative to the array's magnitude. Inputs
 * and output gradients are about 1, and terms of sums up to about 50, so rounding leaves an error of some 1e-6 in
 * values below 0.5.
 */
function relativeError(found: ArrayLike<number>, expected: ArrayLike<number>): number {
  let [difference, scale] = [0, 0.5];
  for (let i = 0; i < expected.length; i++) {
    difference = worse(difference, Math.abs(found[i] - expected[i]));
    scale = Math.max(scale, Math.abs(expected[i]));
  }
  return difference / scale;
}
