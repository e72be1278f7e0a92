import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { required, type WasmRuntime } from '../kernel.ts';

/**
 * x with its axes in the order `attributes.perm`; null if that takes more than one swap of neighbouring groups of axes.
 */
export function transpose(
  { kernels, memory }: WasmRuntime,
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo | null {
  const x = required(inputs, 'x');
  if (x.dtype !== 'float32' && x.dtype !== 'int32') return null;
  const order = attributes.perm as number[];
  const shape = order.map((axis) => x.shape[axis]);
  const swap = describeSwap(x.shape, order);
  if (swap === null) return null;
  if (swap.rows === 1 || swap.columns === 1) return memory.share(x, shape);
  const output = memory.output(shape, x.dtype);
  const { batch, rows, columns, run } = swap;
  kernels.swapAxes(memory.address(x), batch, rows, columns, run, memory.address(output));
  return output;
}

/**
 * A permutation as the swap of the middle axes of `[batch, rows, columns, run]`, or null. Axes of size 1 may move
 * anywhere.
 */
export function describeSwap(shape: readonly number[], order: readonly number[]) {
  const moved = order.filter((axis) => shape[axis] !== 1);
  const still = moved.toSorted((a, b) => a - b);
  const first = moved.findIndex((axis, i) => axis !== still[i]);
  if (first < 0) return { batch: 1, rows: 1, columns: 1, run: tf.util.sizeFromShape([...shape]) };
  const last = moved.findLastIndex((axis, i) => axis !== still[i]);
  const [before, swapped] = [still.slice(first, last + 1), moved.slice(first, last + 1)];
  const split = before.indexOf(swapped[0]);
  if ([...before.slice(split), ...before.slice(0, split)].join() !== swapped.join()) return null;
  const size = (axes: number[]) => tf.util.sizeFromShape(axes.map((axis) => shape[axis]));
  return {
    batch: size(still.slice(0, first)),
    rows: size(before.slice(0, split)),
    columns: size(before.slice(split)),
    run: size(still.slice(last + 1)),
  };
}
