import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { propertyOptions } from './fill.ts';

beforeAll(async () => void (await startBackend('wasm')));

const sliced = fc
  .array(
    fc
      .record({ length: fc.integer({ min: 1, max: 5 }), from: fc.nat(), count: fc.nat() })
      .map(({ length, from, count }) => ({
        length,
        from: from % length,
        count: 1 + (count % (length - (from % length))),
      })),
    { minLength: 1, maxLength: 5 },
  )
  .chain((axes) =>
    fc.record({ axes: fc.constant(axes), dtype: fc.constantFrom('float32' as const, 'int32' as const) }),
  );

/** Positions in x, in the order of the part. */
function positions(axes: { length: number; from: number; count: number }[]): number[] {
  return axes.reduce(
    (before, { length, from, count }) =>
      before.flatMap((start) => Array.from({ length: count }, (_, i) => start * length + from + i)),
    [0],
  );
}

it('slices arrays of any rank by their definition', () => {
  fc.assert(
    fc.property(sliced, ({ axes, dtype }) => {
      const shape = axes.map(({ length }) => length);
      const size = shape.reduce((product, length) => product * length, 1);
      // The value is the position.
      const x = tf.reshape(tf.cast(tf.range(0, size), dtype), shape);
      const part = tf.slice(
        x,
        axes.map(({ from }) => from),
        axes.map(({ count }) => count),
      );
      expect(part.dtype).toBe(dtype);
      expect(part.shape).toEqual(axes.map(({ count }) => count));
      expect([...part.dataSync()]).toEqual(positions(axes));
    }),
    propertyOptions,
  );
});

it('slices to the end, empty parts, and truth values', async () => {
  const x = tf.tensor2d([1, 2, 3, 4, 5, 6], [3, 2]);
  expect(await tf.slice(x, [1, 1], [-1, 1]).data()).toEqual(Float32Array.of(4, 6));
  expect(await tf.slice(x, 2).data()).toEqual(Float32Array.of(5, 6));
  expect(tf.slice(x, [0, 0], [0, 2]).shape).toEqual([0, 2]);
  expect([...(await tf.slice(tf.tensor1d([1, 0, 1, 0], 'bool'), 1, 2).data())]).toEqual([0, 1]);
});
