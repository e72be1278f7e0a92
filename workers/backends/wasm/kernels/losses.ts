import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { required, type WasmRuntime } from '../kernel.ts';

/** Mean cross-entropy of each batch of logits `[..., B, K]` with labels int32 `[..., B]`: shape `[...]`. */
export function crossEntropy({ kernels, memory }: WasmRuntime, inputs: NamedTensorInfoMap): TensorInfo {
  const [logits, labels] = [required(inputs, 'logits'), required(inputs, 'labels')];
  const { stack, count, rows, columns } = batchesOf(logits);
  const loss = memory.output(stack);
  const [z, y, out] = [logits, labels, loss].map((tensor) => memory.address(tensor));
  for (let i = 0; i < count; i++) {
    kernels.crossEntropy(z + 4 * i * rows * columns, y + 4 * i * rows, rows, columns, out + 4 * i);
  }
  return loss;
}

/** The gradient of {@link crossEntropy} with respect to the logits, in their shape. */
export function crossEntropyGradient({ kernels, memory }: WasmRuntime, inputs: NamedTensorInfoMap): TensorInfo {
  const [logits, labels, slope] = [required(inputs, 'logits'), required(inputs, 'labels'), required(inputs, 'dy')];
  const { count, rows, columns } = batchesOf(logits);
  const gradient = memory.output(logits.shape);
  const [z, y, dy, out] = [logits, labels, slope, gradient].map((tensor) => memory.address(tensor));
  for (let i = 0; i < count; i++) {
    const values = 4 * i * rows * columns;
    kernels.crossEntropyGradient(z + values, y + 4 * i * rows, rows, columns, dy + 4 * i, out + values);
  }
  return gradient;
}

/**
 * Mean over each batch of log σ² + (y − μ)²/σ². Mean μ, variance σ² and targets y have the same shape `[..., B, K]`.
 */
export function gaussianNll({ kernels, memory }: WasmRuntime, inputs: NamedTensorInfoMap): TensorInfo {
  const { mean, variance, targets } = gaussianInputs(inputs);
  const { stack, count, rows, columns } = batchesOf(mean);
  const loss = memory.output(stack);
  const [means, variances, wanted, out] = [mean, variance, targets, loss].map((tensor) => memory.address(tensor));
  const size = rows * columns;
  for (let i = 0; i < count; i++) {
    const from = 4 * i * size;
    kernels.gaussianNll(means + from, variances + from, wanted + from, size, out + 4 * i);
  }
  return loss;
}

/** The gradient of {@link gaussianNll} with respect to the mean or the variance (`attributes.ofVariance`). */
export function gaussianNllGradient(
  { kernels, memory }: WasmRuntime,
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo {
  const { mean, variance, targets } = gaussianInputs(inputs);
  const { count, rows, columns } = batchesOf(mean);
  const gradient = memory.output(mean.shape);
  const tensors = [mean, variance, targets, required(inputs, 'dy'), gradient];
  const [means, variances, wanted, slope, out] = tensors.map((tensor) => memory.address(tensor));
  const [size, ofVariance] = [rows * columns, Number(attributes.ofVariance)];
  for (let i = 0; i < count; i++) {
    const from = 4 * i * size;
    const [m, v, y, dy] = [means + from, variances + from, wanted + from, slope + 4 * i];
    kernels.gaussianNllGradient(m, v, y, size, dy, ofVariance, out + from);
  }
  return gradient;
}

function gaussianInputs(inputs: NamedTensorInfoMap) {
  return {
    mean: required(inputs, 'mean'),
    variance: required(inputs, 'variance'),
    targets: required(inputs, 'targets'),
  };
}

function batchesOf({ shape }: TensorInfo): { stack: number[]; count: number; rows: number; columns: number } {
  const [rows, columns] = shape.slice(-2);
  const stack = shape.slice(0, -2);
  return { stack, count: tf.util.sizeFromShape(stack), rows, columns };
}
