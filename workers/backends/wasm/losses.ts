import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../tf.ts';
import { required } from './inputs.ts';
import type { WasmRuntime } from './runtime.ts';

/** Losses of stacks of batches, `[..., B, K]`: one mean for each batch, shape `[...]`. */

/** Mean cross-entropy of logits `[..., B, K]` against labels int32 `[..., B]`. */
export function crossEntropy({ kernels, memory }: WasmRuntime, inputs: NamedTensorInfoMap): TensorInfo {
  const [logits, labels] = [required(inputs, 'logits'), required(inputs, 'labels')];
  const { stack, rows, columns } = batchesOf(logits);
  const loss = memory.output(stack);
  const at = (tensor: TensorInfo, offset: number) => memory.address(tensor) + 4 * offset;
  for (let i = 0; i < tf.util.sizeFromShape(stack); i++) {
    kernels.crossEntropy(at(logits, i * rows * columns), at(labels, i * rows), rows, columns, at(loss, i));
  }
  return loss;
}

/** Its gradient for the logits, of the shape they have. */
export function crossEntropyGradient({ kernels, memory }: WasmRuntime, inputs: NamedTensorInfoMap): TensorInfo {
  const [logits, labels, slope] = [required(inputs, 'logits'), required(inputs, 'labels'), required(inputs, 'dy')];
  const { stack, rows, columns } = batchesOf(logits);
  const gradient = memory.output(logits.shape);
  const at = (tensor: TensorInfo, offset: number) => memory.address(tensor) + 4 * offset;
  for (let i = 0; i < tf.util.sizeFromShape(stack); i++) {
    const [from, to] = [at(logits, i * rows * columns), at(gradient, i * rows * columns)];
    kernels.crossEntropyGradient(from, at(labels, i * rows), rows, columns, at(slope, i), to);
  }
  return gradient;
}

/** Mean of log σ² + (y − μ)²/σ², all three of one size. */
export function gaussianNll({ kernels, memory }: WasmRuntime, inputs: NamedTensorInfoMap): TensorInfo {
  const { mean, variance, targets } = gaussianInputs(inputs);
  const { stack, rows, columns } = batchesOf(mean);
  const loss = memory.output(stack);
  const size = rows * columns;
  const at = (tensor: TensorInfo, offset: number) => memory.address(tensor) + 4 * offset;
  for (let i = 0; i < tf.util.sizeFromShape(stack); i++) {
    kernels.gaussianNll(at(mean, i * size), at(variance, i * size), at(targets, i * size), size, at(loss, i));
  }
  return loss;
}

/** Its gradient for the mean or the variance (`attributes.ofVariance`). */
export function gaussianNllGradient(
  { kernels, memory }: WasmRuntime,
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo {
  const { mean, variance, targets } = gaussianInputs(inputs);
  const { stack, rows, columns } = batchesOf(mean);
  const gradient = memory.output(mean.shape);
  const [slope, ofVariance] = [required(inputs, 'dy'), Number(attributes.ofVariance)];
  const size = rows * columns;
  const at = (tensor: TensorInfo, offset: number) => memory.address(tensor) + 4 * offset;
  for (let i = 0; i < tf.util.sizeFromShape(stack); i++) {
    const [means, variances, wanted] = [mean, variance, targets].map((tensor) => at(tensor, i * size));
    kernels.gaussianNllGradient(means, variances, wanted, size, at(slope, i), ofVariance, at(gradient, i * size));
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

function batchesOf({ shape }: TensorInfo): { stack: number[]; rows: number; columns: number } {
  const [rows, columns] = shape.slice(-2);
  return { stack: shape.slice(0, -2), rows, columns };
}
