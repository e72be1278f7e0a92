import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../tensorflow/tf.ts';
import { required, requireFloats, type WasmRuntime } from './kernel.ts';

/** A product of (stacks of) matrices: the operands' sizes and the result's shape. */
interface Product {
  transposeA: boolean;
  transposeB: boolean;
  m: number;
  n: number;
  k: number;
  batchA: number[];
  batchB: number[];
  /** `[...batch, m, n]` */
  shape: number[];
}

/** op(a) op(b) of `[..., m, k]` and `[..., k, n]`; leading axes are broadcast. */
export function batchMatMul(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo {
  const [a, b] = [required(inputs, 'a'), required(inputs, 'b')];
  requireFloats('matMul', a, b);
  const product = describeProduct(a.shape, b.shape, Boolean(attributes.transposeA), Boolean(attributes.transposeB));
  const output = runtime.memory.output(product.shape);
  multiply(runtime, product, a, b, output);
  return output;
}

/** {@link batchMatMul} with bias and activation, in one pass over the result if the activation is a simple one. */
export function fusedMatMul(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo {
  return applyFused(runtime, batchMatMul(runtime, inputs, attributes), inputs, attributes);
}

/**
 * Applies the bias and activation of a fused kernel, in the form in which tfjs passes them. Overwrites or disposes `x`.
 */
export function applyFused(
  runtime: WasmRuntime,
  x: TensorInfo,
  { bias, preluActivationWeights: alpha }: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo {
  return applyBiasAndActivation(runtime, x, bias ?? null, {
    name: attributes.activation as string,
    prelu: alpha ?? null,
    // The default of `tf.leakyRelu` and of the gradient.
    leakyAlpha: Number(attributes.leakyreluAlpha ?? 0.2),
  });
}

interface Activation {
  name: string;
  prelu: TensorInfo | null;
  leakyAlpha: number;
}

/** Codes of the activations that `addBias` knows. */
const simpleActivations = new Map([
  ['linear', 0],
  ['relu', 1],
  ['relu6', 2],
]);

/** act(x + bias). Overwrites or disposes `x`. */
function applyBiasAndActivation(
  runtime: WasmRuntime,
  x: TensorInfo,
  bias: TensorInfo | null,
  activation: Activation,
): TensorInfo {
  if (bias !== null && !isBiasOfColumns(x.shape, bias.shape)) {
    return applyBiasAndActivation(runtime, addBroadcast(runtime, x, bias), null, activation);
  }
  const columns = x.shape[x.shape.length - 1];
  const size = tf.util.sizeFromShape(x.shape);
  const simple = simpleActivations.get(activation.name);
  if (size > 0 && (bias !== null || (simple ?? 0) > 0)) {
    const biases = bias === null ? 1 : tf.util.sizeFromShape(bias.shape) / columns;
    const rows = size / columns / biases;
    const [address, biasAddress] = [runtime.memory.address(x), bias === null ? 0 : runtime.memory.address(bias)];
    for (let i = 0; i < biases; i++) {
      const from = address + 4 * i * rows * columns;
      runtime.kernels.addBias(from, bias === null ? 0 : biasAddress + 4 * i * columns, rows, columns, simple ?? 0);
    }
  }
  return simple === undefined ? activate(runtime, x, activation) : x;
}

/**
 * Whether a bias has one value for each column, `[n]` or `[1, ..., n]`, or one such bias for each matrix of a stack,
 * `[M, 1, n]` for `[M, m, n]`.
 */
function isBiasOfColumns(shape: readonly number[], bias: readonly number[]): boolean {
  if (bias.at(-1) !== shape.at(-1)) return false;
  const isOfAll = bias.slice(0, -1).every((size) => size === 1);
  const isOfEach = shape.length === 3 && bias.length === 3 && bias[0] === shape[0] && bias[1] === 1;
  return isOfAll || isOfEach;
}

/** x + bias by the backend's kernel, for any shapes that can be broadcast. Disposes `x`. */
function addBroadcast({ memory }: WasmRuntime, x: TensorInfo, bias: TensorInfo): TensorInfo {
  const kernel = tf.getKernel('Add', 'wasm');
  if (kernel === undefined) throw new Error('The wasm backend has no kernel Add: is its version the pinned one?');
  const sum = kernel.kernelFunc({ inputs: { a: x, b: bias }, backend: memory.backend }) as TensorInfo;
  memory.dispose(x);
  return sum;
}

/** Applies an activation by its own kernel. Disposes `x`. */
function activate(runtime: WasmRuntime, x: TensorInfo, { name, prelu, leakyAlpha }: Activation): TensorInfo {
  const kernelName = { elu: 'Elu', leakyrelu: 'LeakyRelu', prelu: 'Prelu', sigmoid: 'Sigmoid', tanh: 'Tanh' }[name];
  const kernel = kernelName === undefined ? undefined : tf.getKernel(kernelName, 'wasm');
  if (kernel === undefined) throw new Error(`The wasm backend has no fused activation "${name}": make it a layer.`);
  const inputs = name === 'prelu' && prelu !== null ? { x, alpha: prelu } : { x };
  const activated = kernel.kernelFunc({ inputs, attrs: { alpha: leakyAlpha }, backend: runtime.memory.backend });
  runtime.memory.dispose(x);
  return activated as TensorInfo;
}

function describeProduct(aShape: number[], bShape: number[], transposeA: boolean, transposeB: boolean): Product {
  const [rowsA, columnsA] = aShape.slice(-2);
  const [rowsB, columnsB] = bShape.slice(-2);
  const [m, k] = transposeA ? [columnsA, rowsA] : [rowsA, columnsA];
  const [depthB, n] = transposeB ? [columnsB, rowsB] : [rowsB, columnsB];
  if (k !== depthB) {
    throw new Error(
      `matMul of [${aShape.join()}] and [${bShape.join()}]: inner sizes ${k} and ${depthB} must be equal.`,
    );
  }
  const [batchA, batchB] = [aShape.slice(0, -2), bShape.slice(0, -2)];
  const shape = [...tf.broadcast_util.assertAndGetBroadcastShape(batchA, batchB), m, n];
  return { transposeA, transposeB, m, n, k, batchA, batchB, shape };
}

function multiply(runtime: WasmRuntime, product: Product, a: TensorInfo, b: TensorInfo, output: TensorInfo): void {
  const { transposeA, transposeB, n, k, batchA, batchB, shape } = product;
  const size = tf.util.sizeFromShape(shape);
  const c = runtime.memory.address(output);
  if (size === 0) return;
  if (k === 0) return void runtime.memory.floats(c, size).fill(0);
  const addressA = runtime.memory.address(a);
  const addressB = runtime.memory.address(b);
  // With a single matrix B, the stack of A is one tall matrix.
  const isTall = !transposeA && tf.util.sizeFromShape(batchB) === 1;
  const m = isTall ? size / n : product.m;
  const [lda, ldb] = [transposeA ? m : k, transposeB ? k : n];
  const matrices = isTall ? [[0, 0]] : pairMatrices(shape.slice(0, -2), batchA, batchB);
  matrices.forEach(([matrixA, matrixB], i) => {
    const [fromA, fromB] = [addressA + 4 * matrixA * m * k, addressB + 4 * matrixB * k * n];
    runtime.gemm(transposeA, transposeB, m, n, k, fromA, lda, fromB, ldb, 0, c + 4 * i * m * n, n);
  });
}

/** For each matrix of the result, the indices of its matrices in A and B. */
function pairMatrices(batch: number[], batchA: number[], batchB: number[]): [number, number][] {
  const count = tf.util.sizeFromShape(batch);
  const [countA, countB] = [tf.util.sizeFromShape(batchA), tf.util.sizeFromShape(batchB)];
  // The fast path for the usual stacks: one matrix for each, or a single one for all.
  if ([countA, countB].every((size) => size === count || size === 1)) {
    return Array.from({ length: count }, (_, i) => [countA === 1 ? 0 : i, countB === 1 ? 0 : i]);
  }
  const [stridesA, stridesB] = [broadcastStrides(batchA, batch.length), broadcastStrides(batchB, batch.length)];
  return Array.from({ length: count }, (_, i) => {
    const position = batch.map((size, axis) => Math.floor(i / tf.util.sizeFromShape(batch.slice(axis + 1))) % size);
    const dot = (strides: number[]) => position.reduce((sum, index, axis) => sum + index * strides[axis], 0);
    return [dot(stridesA), dot(stridesB)];
  });
}

/** Strides of a batch's axes, aligned to the right with `rank` axes; 0 where an axis of size 1 is broadcast. */
function broadcastStrides(batch: number[], rank: number): number[] {
  const aligned = [...Array.from({ length: rank - batch.length }, () => 1), ...batch];
  return aligned.map((size, axis) => (size === 1 ? 0 : tf.util.sizeFromShape(aligned.slice(axis + 1))));
}
