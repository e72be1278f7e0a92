import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { expectLikeCpu, expectValueLikeCpu } from './compare.ts';
import { propertyOptions } from './fill.ts';

beforeAll(async () => void (await startBackend('wasm')));

const shapes = fc.array(fc.integer({ min: 1, max: 19 }), { minLength: 1, maxLength: 4 });
const reductions = shapes.chain((shape) =>
  fc.record({ shape: fc.constant(shape), axes: fc.subarray([...shape.keys()]), keepDims: fc.boolean() }),
);

describe('reductions', () => {
  it.each(['sum', 'mean', 'max'] as const)(
    '%s over any axes equals the values and gradients of the cpu backend',
    async (op) => {
      await fc.assert(
        fc.asyncProperty(reductions, async ({ shape, axes, keepDims }) => {
          await expectLikeCpu([shape], (x) => tf[op](x, axes, keepDims));
        }),
        propertyOptions,
      );
    },
  );

  it('of many values', async () => {
    await expectValueLikeCpu([[300, 33]], (x) => tf.sum(x, 0));
    await expectValueLikeCpu([[3, 1001]], (x) => tf.mean(x, 1));
  });

  it('propagate NaN, leave integers to tfjs, and reduce an empty axis to the neutral element', () => {
    const valuesOf = (compute: () => ReturnType<typeof tf.sum>) => tf.tidy(() => [...compute().dataSync()]);
    expect(valuesOf(() => tf.max(tf.tensor1d([1, NaN, 2])))).toEqual([NaN]);
    expect(valuesOf(() => tf.sum(tf.tensor1d([1, 2], 'int32')))).toEqual([3]);
    expect(valuesOf(() => tf.sum(tf.zeros([0, 2]), 0))).toEqual([0, 0]);
    expect(valuesOf(() => tf.max(tf.zeros([2, 0]), 1))).toEqual([-Infinity, -Infinity]);
  });
});

describe('transpose', () => {
  it('in any order equals the values and gradients of the cpu backend', async () => {
    const orders = shapes.chain((shape) =>
      fc.record({
        shape: fc.constant(shape),
        order: fc.shuffledSubarray([...shape.keys()], { minLength: shape.length, maxLength: shape.length }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(orders, async ({ shape, order }) => {
        await expectLikeCpu([shape], (x) => tf.transpose(x, order));
      }),
      propertyOptions,
    );
  });

  it.each([
    [
      [37, 50],
      [1, 0],
    ],
    [
      [3, 20, 18],
      [0, 2, 1],
    ],
    [
      [2, 5, 3, 4],
      [0, 2, 1, 3],
    ],
    [
      [2, 5, 3, 4],
      [0, 3, 1, 2],
    ],
    [
      [4, 3, 5],
      [2, 1, 0],
    ],
  ])('of %j to %j', async (shape, order) => {
    await expectValueLikeCpu([shape], (x) => tf.transpose(x, order));
  });
});
