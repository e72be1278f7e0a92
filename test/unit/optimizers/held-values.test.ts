import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RuleConfig } from '../../../core/protocol/run/optimizer-config.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import { holdTensors, releaseTensors } from '../../../workers/tensorflow/tensor-values.ts';
import { tf, type Tensor, type Variable } from '../../../workers/tensorflow/tf.ts';

beforeAll(async () => void (await startBackend('wasm')));

const adam = { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-7, weightDecay: 0.01 };
const rmsprop = { learningRate: 0.1, rho: 0.9, epsilon: 1e-7, weightDecay: 0.01 };
const sgd = { kind: 'sgd', learningRate: 0.1, weightDecay: 0.01 } as const;
const optimizers: Record<string, RuleConfig> = {
  adam: { kind: 'adam', ...adam },
  adamw: { kind: 'adamw', ...adam },
  lamb: { kind: 'lamb', ...adam },
  lion: { kind: 'lion', learningRate: 0.1, beta1: 0.9, beta2: 0.99, weightDecay: 0.01 },
  rmsprop: { kind: 'rmsprop', ...rmsprop, momentum: 0, centered: false },
  'rmsprop, centered, with momentum': { kind: 'rmsprop', ...rmsprop, momentum: 0.9, centered: true },
  'sgd without momentum': { ...sgd, momentum: 0, nesterov: false },
  'sgd with momentum': { ...sgd, momentum: 0.9, nesterov: false },
  'sgd with Nesterov’s momentum': { ...sgd, momentum: 0.9, nesterov: true },
};

const bitsOf = (tensors: Iterable<Tensor>): number[][] => [...tensors].map((tensor) => [...tensor.dataSync()]);

/** Updates a variable of some size, with or without its earlier values held. @returns the values after each step */
function update(optimizer: RuleConfig, size: number, isHeld: boolean): number[][][] {
  const variable: Variable = tf.variable(tf.tensor1d(Float32Array.from({ length: size }, (_, i) => Math.sin(i))));
  const made = createOptimizer(optimizer, [variable]);
  const tensors = new Map<string, Tensor>([['theta', variable], ...made.slots]);
  return Array.from({ length: 3 }, (_, step) => {
    const before = bitsOf(tensors.values());
    const held = isHeld ? holdTensors(tensors) : new Map<string, Tensor>();
    const gradient = tf.tensor1d(Float32Array.from({ length: size }, (_, i) => Math.cos(i + step)));
    made.apply([gradient], { learningRate: 0.1 });
    const unchanged = isHeld ? bitsOf(held.values()) : before;
    expect(unchanged).toEqual(before);
    releaseTensors(held);
    gradient.dispose();
    return bitsOf(tensors.values());
  });
}

describe.each(Object.entries(optimizers))('%s', (_, optimizer) => {
  it('leaves held values unchanged, and computes the same new ones as in place', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70 }), (size) => {
        expect(update(optimizer, size, true)).toEqual(update(optimizer, size, false));
      }),
      { seed: 4, numRuns: 8 },
    );
  });

  it('leaves no memory behind', () => {
    const slots = createOptimizer(optimizer, [tf.variable(tf.scalar(0))]).slots.size;
    const { numTensors, numDataBuffers } = tf.memory();
    tf.tidy(() => void update(optimizer, 9, true));
    // Only the variable and its slots, which no tidy disposes of.
    expect(tf.memory().numTensors - numTensors).toBe(1 + slots);
    expect(tf.memory().numDataBuffers - numDataBuffers).toBe(1 + slots);
  });
});
