import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { required, type WasmRuntime } from '../kernel.ts';

/**
 * Reduces the middle axis of `outer x reduced x inner` values at address `x` and writes the results to address `out`.
 */
type AxisReduction = (x: number, outer: number, reduced: number, inner: number, out: number) => void;

/** Sum over the axes `attributes.axis`; null for values that are not floats. */
export function sum(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo | null {
  const { kernels } = runtime;
  return reduce(runtime, required(inputs, 'x'), attributes.axis, attributes.keepDims, (x, outer, reduced, inner, out) =>
    kernels.sumAxis(x, outer, reduced, inner, 1, out),
  );
}

/** Mean over the axes `attributes.axis`. */
export function mean(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo | null {
  const { kernels } = runtime;
  return reduce(runtime, required(inputs, 'x'), attributes.axis, attributes.keepDims, (x, outer, reduced, inner, out) =>
    kernels.sumAxis(x, outer, reduced, inner, 1 / reduced, out),
  );
}

/** Maximum over the axes `attributes.reductionIndices`. */
export function max(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo | null {
  const { kernels } = runtime;
  const { reductionIndices, keepDims } = attributes;
  return reduce(runtime, required(inputs, 'x'), reductionIndices, keepDims, (x, outer, reduced, inner, out) =>
    kernels.maxAxis(x, outer, reduced, inner, out),
  );
}

function reduce(
  { memory }: WasmRuntime,
  x: TensorInfo,
  axis: unknown,
  keepDims: unknown,
  reduction: AxisReduction,
): TensorInfo | null {
  if (x.dtype !== 'float32') return null;
  const axes = tf.util.parseAxisParam(axis as number[], x.shape).sort((a, b) => a - b);
  const shape = x.shape.flatMap((size, i) => (!axes.includes(i) ? [size] : keepDims ? [1] : []));
  let [current, currentShape] = [memory.share(x), x.shape];
  // Neighbouring axes are reduced as one. The last group comes first, so that the axes before it keep their places.
  for (const { first, count } of groups(axes).toReversed()) {
    const [before, after] = [currentShape.slice(0, first), currentShape.slice(first + count)];
    const output = memory.output([...before, ...after]);
    const sizes = [before, currentShape.slice(first, first + count), after].map((part) => tf.util.sizeFromShape(part));
    reduction(memory.address(current), sizes[0], sizes[1], sizes[2], memory.address(output));
    memory.dispose(current);
    [current, currentShape] = [output, output.shape];
  }
  return { ...current, shape };
}

/** Runs of successive axes of a sorted list. */
function groups(axes: readonly number[]): { first: number; count: number }[] {
  const found: { first: number; count: number }[] = [];
  for (const axis of axes) {
    const last = found.at(-1);
    if (last !== undefined && last.first + last.count === axis) last.count += 1;
    else found.push({ first: axis, count: 1 });
  }
  return found;
}
