import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { type Kernel, required, requireFloats, type WasmRuntime } from '../kernel.ts';

/**
 * Batch normalization of a training step (Ioffe and Szegedy, 2015), over all axes but the last. With R rows of C
 * values, μ and σ² the mean and biased variance of a column, and s = 1/√(σ² + ε): y = γ s (x − μ) + β.
 */
export const batchNormalizationKernels: Record<string, Kernel> = {
  NormalizeBatch: normalizeBatch,
  NormalizeBatchGradient: normalizeBatchGradient,
};

/** Returns y in the shape of x `[..., C]`, μ `[C]` and σ² `[C]`; γ and β are `[C]`. */
function normalizeBatch(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
  const { kernels, memory } = runtime;
  const [x, gamma, beta] = ['x', 'gamma', 'beta'].map((name) => required(inputs, name));
  requireFloats('batchNormalization', x, gamma, beta);
  const { rows, columns } = sizesOf(x);
  const [y, mean, variance] = [memory.output(x.shape), memory.output([columns]), memory.output([columns])];
  const [from, toMean, toVariance, to] = [x, mean, variance, y].map((tensor) => memory.address(tensor));
  const scratch = memory.allocate(24 * columns);
  try {
    kernels.columnMoments(from, rows, columns, columns, toMean, toVariance, scratch);
    const { means, factors } = readMoments(runtime, gamma, { mean, variance }, Number(attributes.epsilon));
    const betas = memory.floats(memory.address(beta), columns);
    const shifts = means.map((value, j) => betas[j] - value * factors[j]);
    memory.floats(scratch, columns).set(factors);
    memory.floats(scratch + 4 * columns, columns).set(shifts);
    kernels.scaleColumns(from, rows, columns, scratch, scratch + 4 * columns, to);
  } finally {
    memory.free(scratch);
  }
  return [y, mean, variance];
}

/**
 * Returns dx, dγ and dβ. With D = Σ dy and E = Σ dy (x − μ) over a column: dβ = D, dγ = s E, dx = γ s (dy − D/R − (x −
 * μ) s² E/R), computed as a dy + b x + c.
 */
function normalizeBatchGradient(
  runtime: WasmRuntime,
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo[] {
  const { kernels, memory } = runtime;
  const [x, gamma, dy, mean, variance] = ['x', 'gamma', 'dy', 'mean', 'spread'].map((name) => required(inputs, name));
  const { rows, columns } = sizesOf(x);
  const [dx, dGamma, dBeta] = [memory.output(x.shape), memory.output([columns]), memory.output([columns])];
  const [from, slopes, center, to] = [x, dy, mean, dx].map((tensor) => memory.address(tensor));
  const scratch = memory.allocate(24 * columns);
  try {
    const [a, b, c] = [scratch, scratch + 4 * columns, scratch + 8 * columns];
    const [toBeta, toGamma] = [dBeta, dGamma].map((tensor) => memory.address(tensor));
    kernels.columnSlopes(from, slopes, rows, columns, columns, center, toBeta, toGamma, scratch);
    const { means, inverses, factors } = readMoments(runtime, gamma, { mean, variance }, Number(attributes.epsilon));
    const [sums, products] = [dBeta, dGamma].map((tensor) => memory.floats(memory.address(tensor), columns));
    const ofX = products.map((product, j) => (-factors[j] * inverses[j] ** 2 * product) / rows);
    memory.floats(a, columns).set(factors);
    memory.floats(b, columns).set(ofX);
    memory.floats(c, columns).set(means.map((value, j) => (-factors[j] * sums[j]) / rows - value * ofX[j]));
    for (const [j, inverse] of inverses.entries()) products[j] *= inverse;
    kernels.combineColumns(from, slopes, rows, columns, a, b, c, to);
  } finally {
    memory.free(scratch);
  }
  return [dx, dGamma, dBeta];
}

function sizesOf(x: TensorInfo): { rows: number; columns: number } {
  const columns = x.shape[x.shape.length - 1];
  return { rows: tf.util.sizeFromShape(x.shape) / columns, columns };
}

/** Copies of μ, s and γ s of each column. Views would become invalid at the next allocation. */
function readMoments(
  { memory }: WasmRuntime,
  gamma: TensorInfo,
  { mean, variance }: { mean: TensorInfo; variance: TensorInfo },
  epsilon: number,
) {
  const [means, variances, gammas] = [mean, variance, gamma].map((tensor) =>
    memory.floats(memory.address(tensor), tf.util.sizeFromShape(tensor.shape)),
  );
  const inverses = variances.map((value) => 1 / Math.sqrt(value + epsilon));
  return { means: means.slice(), inverses, factors: inverses.map((inverse, j) => gammas[j] * inverse) };
}
