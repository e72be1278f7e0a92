import type { Rank, Tensor1D, Tensor4D } from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { optimizerSchema } from '../../../../core/protocol/run/optimizer-config.ts';
import type { OptimizerConfig } from '../../../../core/protocol/run/config.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf, type Variable } from '../../../../workers/tensorflow/tf.ts';
import { createOptimizer } from '../../../../workers/optimizers/optimizers.ts';
import { spread } from './fill.ts';

beforeAll(async () => {
  await startBackend('cpu');
  await startBackend('wasm');
});

/** Values of a variable after each of five updates. */
async function train(backend: string, config: OptimizerConfig, size: number): Promise<number[][]> {
  await tf.setBackend(backend);
  const variable = tf.tidy(() => tf.variable(tf.tensor1d(spread(size, 1))));
  const optimizer = createOptimizer(config, [variable]);
  const seen = [1, 2, 3, 4, 5].map((step) => {
    tf.tidy(() => optimizer.apply([tf.tensor1d(spread(size, step + 1))], { learningRate: 0.1 / step }));
    return [...variable.dataSync()];
  });
  tf.dispose([variable, ...optimizer.slots.values()]);
  return seen;
}

describe('updates in one kernel', () => {
  it.each([
    { kind: 'sgd', momentum: 0, weightDecay: 0.1 },
    { kind: 'sgd', momentum: 0.9, weightDecay: 0 },
    { kind: 'sgd', momentum: 0.9, nesterov: true, weightDecay: 0.1 },
    { kind: 'adam', weightDecay: 0.1 },
    { kind: 'adamw', weightDecay: 0.1 },
    { kind: 'rmsprop', weightDecay: 0.1 },
    { kind: 'rmsprop', momentum: 0.9, weightDecay: 0 },
    { kind: 'rmsprop', centered: true, weightDecay: 0.1 },
    { kind: 'rmsprop', momentum: 0.9, centered: true, weightDecay: 0.1 },
    { kind: 'lion', weightDecay: 0.1 },
    { kind: 'lamb', weightDecay: 0.1 },
  ])('equal those of the ops: $kind, momentum $momentum, weight decay $weightDecay', async (options) => {
    const config = optimizerSchema.parse(options);
    for (const size of [1, 3, 4, 11]) {
      const expected = await train('cpu', config, size);
      const actual = await train('wasm', config, size);
      actual.forEach((values, step) => values.forEach((value, i) => expect(value).toBeCloseTo(expected[step][i], 5)));
    }
  });

  it('leave clones and reshaped tensors of a variable unchanged', () => {
    const variable = tf.variable(tf.tensor1d([1, 2]));
    const [clone, column] = [tf.clone(variable), tf.reshape(variable, [2, 1])];
    step(variable, [1, 1]);
    expect([...variable.dataSync()]).toEqual([0, 1]);
    expect([...clone.dataSync()]).toEqual([1, 2]);
    expect([...column.dataSync()]).toEqual([1, 2]);
    tf.dispose([variable, clone, column]);
  });

  it('are visible to kernels that keep packed copies of weights', () => {
    const filter = tf.tidy(() => tf.variable(tf.ones<Rank.R4>([1, 1, 1, 1])));
    const alpha = tf.tidy(() => tf.variable(tf.ones([1])));
    const convolved = () =>
      tf.tidy(() => tf.conv2d(tf.ones<Rank.R4>([1, 1, 1, 1]), filter as Tensor4D, 1, 'valid').dataSync()[0]);
    const activated = () => tf.tidy(() => tf.prelu(tf.tensor1d([-1]), alpha as Tensor1D).dataSync()[0]);
    expect([convolved(), activated()]).toEqual([1, -1]);
    step(filter, [3]);
    step(alpha, [3]);
    expect([convolved(), activated()]).toEqual([-2, 2]);
    tf.dispose([filter, alpha]);
  });
});

/** θ ← θ − gradient */
function step(variable: Variable, gradient: number[]): void {
  const optimizer = createOptimizer(optimizerSchema.parse({ kind: 'sgd', momentum: 0 }), [variable]);
  tf.tidy(() => optimizer.apply([tf.tensor(gradient, variable.shape)], { learningRate: 1 }));
}
