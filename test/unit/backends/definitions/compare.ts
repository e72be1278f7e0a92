import { expect } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import { spread } from '../kernels/fill.ts';
import { gradientsOf, sizeOf, Value } from '../../../reference/value.ts';

/** The subjects of a test: each backend of this machine, and each build of the wasm kernels. */
export const subjects = ['wasm, relaxed', 'wasm, deterministic', 'cpu'] as const;

export async function startSubject(subject: (typeof subjects)[number]): Promise<void> {
  if (subject === 'cpu') await startBackend('cpu');
  else await startBackend('wasm', { determinism: subject === 'wasm, relaxed' ? 'relaxed' : 'deterministic' });
}

export interface DrawnArray {
  readonly shape: readonly number[];
  /** Exact in float32. */
  readonly data: Float64Array;
}

/** Values in [-1, 1). */
export function draw(shape: readonly number[], seed: number): DrawnArray {
  return { shape, data: Float64Array.from(spread(sizeOf(shape), seed)) };
}

/** Multiples of 1/2 in [-1.5, 1.5], so that maxima are often equal. */
export function drawWithTies(shape: readonly number[], seed: number): DrawnArray {
  const { data } = draw(shape, seed);
  return { shape, data: data.map((value) => Math.round(value * 3) / 2) };
}

/**
 * Asserts that an op's value and gradients on the current backend are those of its definition in test/reference, within
 * `tolerance` of each array's largest value. NaN is expected where the reference has it, and only there.
 */
export async function expectLikeDefinition(
  inputs: readonly DrawnArray[],
  apply: (inputs: Tensor[]) => Tensor,
  define: (inputs: Value[]) => Value,
  tolerance = 2e-6,
): Promise<void> {
  const values = inputs.map(({ data, shape }) => new Value(data, shape));
  const expected = define(values);
  const dy = spread(sizeOf(expected.shape), 99);
  const found = tf.tidy(() => {
    const tensors = inputs.map(({ data, shape }) => tf.tensor(Float32Array.from(data), [...shape]));
    const value = apply(tensors);
    expect(value.shape).toEqual(expected.shape);
    return [value, ...tf.grads((...args: Tensor[]) => apply(args))(tensors, tf.tensor(dy, value.shape))];
  });
  const [value, ...gradients] = await Promise.all(found.map((tensor) => tensor.data()));
  tf.dispose(found);
  expectClose('value', value, expected.data, tolerance);
  gradientsOf(expected, dy, values).forEach((gradient, input) =>
    expectClose(`gradient of input ${input}`, gradients[input], gradient, tolerance),
  );
}

export function expectClose(
  what: string,
  found: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance: number,
): void {
  expect(found.length, what).toBe(expected.length);
  const finite = Array.from(expected).filter(Number.isFinite);
  const scale = Math.max(1e-30, ...finite.map(Math.abs));
  for (let i = 0; i < expected.length; i++) {
    const isClose = Object.is(found[i], expected[i]) || Math.abs(found[i] - expected[i]) <= tolerance * scale;
    if (!isClose) expect({ what, i, value: found[i] }).toEqual({ what, i, value: expected[i] });
  }
}
