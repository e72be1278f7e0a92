import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { required, type WasmRuntime } from '../kernel.ts';

/**
 * The part of x from `attributes.begin` on, of the size `attributes.size`, copied in place. tfjs's kernel copies all of
 * x to JavaScript first, which took a tenth of a step of an LSTM with 128 units; it still handles types other than
 * float32 and int32, and empty parts.
 */
export function slice(
  { kernels, memory }: WasmRuntime,
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo | null {
  const x = required(inputs, 'x');
  if (x.dtype !== 'float32' && x.dtype !== 'int32') return null;
  const [begin, size] = tf.slice_util.parseSliceParams(x, attributes.begin as number[], attributes.size as number[]);
  if (size.includes(0)) return null;
  const output = memory.output(size, x.dtype);
  const copies = describeCopies(x.shape, begin, size);
  const [from, to] = [memory.address(x), memory.address(output)];
  copies.starts.forEach((start, i) => {
    const target = to + 4 * i * copies.rows * copies.columns;
    kernels.copyRows(from + 4 * start, copies.row, target, copies.columns, copies.rows, copies.columns);
  });
  return output;
}

/**
 * A part of an array as equal blocks of `rows` rows, `row` values apart, of `columns` values; `starts` holds the
 * blocks' first positions.
 */
function describeCopies(shape: readonly number[], begin: readonly number[], size: readonly number[]) {
  const sizeOf = (axes: readonly number[]): number => tf.util.sizeFromShape([...axes]);
  // The last axis that is cut; those after it are whole.
  const cut = Math.max(
    0,
    size.findLastIndex((length, axis) => length !== shape[axis]),
  );
  const strideOf = (axis: number): number => sizeOf(shape.slice(axis + 1));
  const columns = shape.length === 0 ? 1 : size[cut] * strideOf(cut);
  const [rows, row] = cut === 0 ? [1, columns] : [size[cut - 1], strideOf(cut - 1)];
  const outer = size.slice(0, Math.max(0, cut - 1));
  const first = begin.reduce((sum, index, axis) => sum + index * strideOf(axis), 0);
  const starts = outer.reduce(
    (known, length, axis) =>
      known.flatMap((start) => Array.from({ length }, (_, index) => start + index * strideOf(axis))),
    [first],
  );
  return { starts, rows, row, columns };
}
