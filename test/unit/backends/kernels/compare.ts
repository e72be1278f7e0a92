import '@tensorflow/tfjs-backend-cpu';
import { expect } from 'vitest';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import { spread } from './fill.ts';

export type Operation = (...inputs: Tensor[]) => Tensor;

// Then tfjs checks every kernel for leaks, and the cpu backend prints no advertisement.
tf.env().set('IS_TEST', true);

/** Runs on one backend with inputs of these shapes. Inputs differ from each other and are the same in each call. */
async function runOn(backend: string, shapes: number[][], run: (inputs: Tensor[]) => Tensor[]) {
  await tf.setBackend(backend);
  const before = tf.memory().numTensors;
  const results = tf.tidy(() => {
    const inputs = shapes.map((shape, i) => tf.tensor(spread(tf.util.sizeFromShape(shape), i + 1), shape));
    return run(inputs).map((tensor) => ({ shape: tensor.shape, values: tensor.dataSync().slice() as Float32Array }));
  });
  expect(tf.memory().numTensors).toBe(before);
  return results;
}

async function expectSame(shapes: number[][], run: (inputs: Tensor[]) => Tensor[], tolerance: number): Promise<void> {
  const expected = await runOn('cpu', shapes, run);
  const actual = await runOn('wasm', shapes, run);
  actual.forEach(({ shape, values }, i) => {
    expect(shape).toEqual(expected[i].shape);
    expectClose(values, expected[i].values, tolerance);
  });
}

/**
 * Asserts that the wasm backend gives the cpu backend's value, within `tolerance` of its largest, and leaks no tensor.
 */
export function expectValueLikeCpu(shapes: number[][], operation: Operation, tolerance = 2e-6): Promise<void> {
  return expectSame(shapes, (inputs) => [operation(...inputs)], tolerance);
}

/** Also compares gradients: those of the sum of all values weighted by a spread of weights. */
export function expectLikeCpu(shapes: number[][], operation: Operation, tolerance = 2e-6): Promise<void> {
  return expectSame(
    shapes,
    (inputs) => {
      const value = operation(...inputs);
      const weights = tf.tensor(spread(value.size, 99), value.shape);
      return [value, ...tf.grads(operation)(inputs, weights)];
    },
    tolerance,
  );
}

function expectClose(actual: Float32Array, expected: Float32Array, tolerance: number): void {
  expect(actual.length).toBe(expected.length);
  const scale = Math.max(1, ...expected.map(Math.abs));
  actual.forEach((value, i) => {
    if (!(Math.abs(value - expected[i]) <= tolerance * scale)) expect({ i, value }).toEqual({ i, value: expected[i] });
  });
}
