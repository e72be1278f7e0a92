import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { type Kernel, required, requireFloats, type WasmRuntime } from '../kernel.ts';

/**
 * Layer normalization (Ba, Kiros and Hinton, 2016) of x `[M, ..., C]`, with γ and β for each of M members: of each row
 * of C values, y = γ s (x − μ) + β with s = 1/√(σ² + ε), its mean μ and its biased variance σ². C is the size of a
 * member's γ, so that rows may extend over several axes of x. A member has the same bits alone and in a stack.
 */
export const layerNormalizationKernels: Record<string, Kernel> = {
  NormalizeRows: normalizeRows,
  NormalizeRowsGradient: normalizeRowsGradient,
};

/** Returns y in the shape of x, and μ and s of each row, `[R]`. */
function normalizeRows(
  { kernels, memory }: WasmRuntime,
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo[] {
  const [x, gamma, beta] = ['x', 'gamma', 'beta'].map((name) => required(inputs, name));
  requireFloats('layerNormalization', x, gamma, beta);
  const { members, rows, columns } = sizesOf(x, gamma, attributes);
  const [y, mean, inverse] = [x.shape, [members * rows], [members * rows]].map((shape) => memory.output(shape));
  const [from, scale, shift, means, inverses, to] = [x, gamma, beta, mean, inverse, y].map((tensor) =>
    memory.address(tensor),
  );
  for (let m = 0; m < members; m++) {
    const [values, weights, row] = [4 * m * rows * columns, 4 * m * columns, 4 * m * rows];
    kernels.normalizeRows(
      from + values,
      rows,
      columns,
      scale + weights,
      shift + weights,
      Number(attributes.epsilon),
      means + row,
      inverses + row,
      to + values,
    );
  }
  return [y, mean, inverse];
}

/** Returns dx, dγ and dβ. */
function normalizeRowsGradient(
  { kernels, memory }: WasmRuntime,
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo[] {
  const [x, gamma, mean, inverse, dy] = ['x', 'gamma', 'mean', 'spread', 'dy'].map((name) => required(inputs, name));
  const { members, rows, columns } = sizesOf(x, gamma, attributes);
  const [dx, dGamma, dBeta] = [x.shape, gamma.shape, gamma.shape].map((shape) => memory.output(shape));
  const tensors = [x, gamma, mean, inverse, dy, dx, dGamma, dBeta];
  const [from, scale, means, inverses, slopes, to, toGamma, toBeta] = tensors.map((tensor) => memory.address(tensor));
  const scratch = memory.allocate(24 * columns);
  for (let m = 0; m < members; m++) {
    const [values, weights, row] = [4 * m * rows * columns, 4 * m * columns, 4 * m * rows];
    kernels.normalizeRowsGradient(
      from + values,
      slopes + values,
      rows,
      columns,
      scale + weights,
      means + row,
      inverses + row,
      to + values,
      toGamma + weights,
      toBeta + weights,
      scratch,
    );
  }
  memory.free(scratch);
  return [dx, dGamma, dBeta];
}

/** Rows of a member, and values of a row. */
function sizesOf(x: TensorInfo, gamma: TensorInfo, attributes: NamedAttrMap) {
  const members = Number(attributes.members);
  const columns = tf.util.sizeFromShape(gamma.shape) / members;
  return { members, rows: tf.util.sizeFromShape(x.shape) / members / columns, columns };
}
