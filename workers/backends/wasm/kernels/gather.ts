import { tf } from '../../../tensorflow/tf.ts';
import { type Kernel, required, requireFloats } from '../kernel.ts';

export const gatherKernels: Record<string, Kernel> = {
  /** Sums the rows of x `[N, ...]` with the same segment id `[N]` to `[S, ...]`: the gradient of an embedding. */
  UnsortedSegmentSum: ({ memory }, inputs, { numSegments }) => {
    const [x, ids] = [required(inputs, 'x'), required(inputs, 'segmentIds')];
    requireFloats('unsortedSegmentSum', x);
    const segments = Number(numSegments);
    const rows = tf.util.sizeFromShape(ids.shape);
    const width = tf.util.sizeFromShape(x.shape.slice(ids.shape.length));
    const output = memory.output([segments, ...x.shape.slice(ids.shape.length)]);
    const sums = memory.floats(memory.address(output), segments * width);
    const values = memory.floats(memory.address(x), rows * width);
    const { order, ends } = bySegment(memory.integers(memory.address(ids), rows), segments);
    const sum = new Float64Array(width);
    for (let segment = 0, at = 0; segment < segments; segment++) {
      sum.fill(0);
      for (; at < ends[segment]; at++) {
        const row = order[at] * width;
        for (let i = 0; i < width; i++) sum[i] += values[row + i];
      }
      sums.set(sum, segment * width);
    }
    return output;
  },
};

/**
 * The rows in the order of their segments, and the end of each segment. Rows with an id out of range are left out, as
 * on other backends.
 */
function bySegment(ids: Int32Array, segments: number): { order: Int32Array; ends: Int32Array } {
  const isInside = (segment: number): boolean => segment >= 0 && segment < segments;
  const ends = new Int32Array(segments);
  for (const segment of ids) if (isInside(segment)) ends[segment] += 1;
  for (let i = 1; i < segments; i++) ends[i] += ends[i - 1];
  const order = new Int32Array(segments === 0 ? 0 : ends[segments - 1]);
  const next = ends.slice();
  // Goes from the last row to the first and fills each segment from its end, so that rows keep their order.
  for (let row = ids.length - 1; row >= 0; row--) if (isInside(ids[row])) order[--next[ids[row]]] = row;
  return { order, ends };
}
