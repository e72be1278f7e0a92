import { tf } from '../../tf.ts';
import { required, requireFloats } from './inputs.ts';
import type { Kernel } from './kernel.ts';

export const gatherKernels: Record<string, Kernel> = {
  /** Sums of the rows of x `[N, ...]` that have the same segment id `[N]`: `[S, ...]`; the gradient of an embedding. */
  UnsortedSegmentSum: ({ memory }, inputs, { numSegments }) => {
    const [x, ids] = [required(inputs, 'x'), required(inputs, 'segmentIds')];
    requireFloats('unsortedSegmentSum', x);
    const segments = Number(numSegments);
    const rows = tf.util.sizeFromShape(ids.shape);
    const width = tf.util.sizeFromShape(x.shape.slice(ids.shape.length));
    const output = memory.output([segments, ...x.shape.slice(ids.shape.length)]);
    const sums = memory.floats(memory.address(output), segments * width).fill(0);
    const values = memory.floats(memory.address(x), rows * width);
    memory.integers(memory.address(ids), rows).forEach((segment, row) => {
      // Rows of no segment are left out, as on other backends.
      if (segment < 0 || segment >= segments) return;
      for (let i = 0; i < width; i++) sums[segment * width + i] += values[row * width + i];
    });
    return output;
  },
};
