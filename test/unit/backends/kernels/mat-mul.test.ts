import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import { expectLikeCpu, expectValueLikeCpu } from './compare.ts';
import { propertyOptions, spread } from './fill.ts';

beforeAll(async () => void (await startBackend('wasm')));

const size = fc.integer({ min: 1, max: 12 });
const sizes = { m: size, n: size, k: size, transposeA: fc.boolean(), transposeB: fc.boolean() };

describe('matMul', () => {
  it('equals the values and gradients of the cpu backend', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ ...sizes, batch: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }) }),
        async ({ m, n, k, transposeA, transposeB, batch }) => {
          const a = [...batch, ...(transposeA ? [k, m] : [m, k])];
          const b = [...batch, ...(transposeB ? [n, k] : [k, n])];
          await expectLikeCpu([a, b], (x, y) => tf.matMul(x, y, transposeA, transposeB));
        },
      ),
      propertyOptions,
    );
  });

  it.each([
    { a: [3], b: [], both: [3] },
    { a: [], b: [2], both: [2] },
    { a: [1], b: [4], both: [4] },
    { a: [2, 1], b: [3], both: [2, 3] },
    { a: [2, 3], b: [1, 3], both: [2, 3] },
    { a: [3, 1], b: [1, 2], both: [3, 2] },
  ])('broadcasts leading axes $a and $b', ({ a, b, both }) => {
    fc.assert(
      fc.property(fc.record(sizes), ({ m, n, k, transposeA, transposeB }) => {
        const [left, right] = [transposeA ? [k, m] : [m, k], transposeB ? [n, k] : [k, n]];
        const [product, expected] = tf.tidy(() => {
          const x = tensor([...a, ...left], 1);
          const y = tensor([...b, ...right], 2);
          const repeated = [tf.broadcastTo(x, [...both, ...left]), tf.broadcastTo(y, [...both, ...right])] as const;
          return [tf.matMul(x, y, transposeA, transposeB), tf.matMul(...repeated, transposeA, transposeB)].map(
            (result) => ({ shape: result.shape, values: result.dataSync() }),
          );
        });
        expect(product).toEqual(expected);
      }),
      { ...propertyOptions, numRuns: 10 },
    );
  });

  it.each(['linear', 'relu', 'relu6', 'elu', 'sigmoid'] as const)('fuses bias and %s', async (activation) => {
    for (const columns of [1, 3, 4, 9]) {
      const shapes = [[5, 7], [7, columns], [columns]];
      const dense = (a: Tensor, b: Tensor, bias: Tensor) => tf.fused.matMul({ a, b, bias, activation });
      await expectLikeCpu(shapes, dense);
      // Outside of a gradient, tfjs calls the fused kernel for every activation.
      await expectValueLikeCpu(shapes, dense);
    }
  });

  it('of an empty sum is zero', () => {
    const product = tf.tidy(() => tf.matMul(tf.zeros([2, 0]), tf.zeros([0, 3])).dataSync());
    expect([...product]).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('reports unsupported operands', () => {
    const integers = () => tf.tidy(() => tf.matMul(tf.ones([2, 2], 'int32'), tf.ones([2, 2], 'int32')));
    expect(integers).toThrow('matMul of int32 values is not available on the wasm backend: cast to float32');
  });
});

function tensor(shape: number[], seed: number): Tensor {
  return tf.tensor(spread(tf.util.sizeFromShape(shape), seed), shape);
}
