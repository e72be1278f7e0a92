import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../tf.ts';
import { required } from './inputs.ts';
import type { WasmRuntime } from './runtime.ts';

/** Mean cross-entropy of logits `[B, K]` against labels int32 `[B]`. */
export function crossEntropy({ kernels, memory }: WasmRuntime, inputs: NamedTensorInfoMap): TensorInfo {
  const [logits, labels] = [required(inputs, 'logits'), required(inputs, 'labels')];
  const [rows, classes] = logits.shape;
  const loss = memory.output([]);
  kernels.crossEntropy(memory.address(logits), memory.address(labels), rows, classes, memory.address(loss));
  return loss;
}

/** Its gradient for the logits, of the shape they have. */
export function crossEntropyGradient({ kernels, memory }: WasmRuntime, inputs: NamedTensorInfoMap): TensorInfo {
  const [logits, labels, slope] = [required(inputs, 'logits'), required(inputs, 'labels'), required(inputs, 'dy')];
  const [rows, classes] = logits.shape;
  const gradient = memory.output(logits.shape);
  const [from, to] = [memory.address(logits), memory.address(gradient)];
  kernels.crossEntropyGradient(from, memory.address(labels), rows, classes, memory.address(slope), to);
  return gradient;
}

/** Mean of log σ² + (y − μ)²/σ², all three of one size. */
export function gaussianNll({ kernels, memory }: WasmRuntime, inputs: NamedTensorInfoMap): TensorInfo {
  const { mean, variance, targets, size } = gaussianInputs(inputs);
  const loss = memory.output([]);
  const at = (tensor: TensorInfo) => memory.address(tensor);
  kernels.gaussianNll(at(mean), at(variance), at(targets), size, at(loss));
  return loss;
}

/** Its gradient for the mean or the variance (`attributes.ofVariance`). */
export function gaussianNllGradient(
  { kernels, memory }: WasmRuntime,
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo {
  const { mean, variance, targets, size } = gaussianInputs(inputs);
  const gradient = memory.output(mean.shape);
  const at = (tensor: TensorInfo) => memory.address(tensor);
  const [slope, ofVariance] = [at(required(inputs, 'dy')), Number(attributes.ofVariance)];
  kernels.gaussianNllGradient(at(mean), at(variance), at(targets), size, slope, ofVariance, at(gradient));
  return gradient;
}

function gaussianInputs(inputs: NamedTensorInfoMap) {
  const mean = required(inputs, 'mean');
  const [variance, targets] = [required(inputs, 'variance'), required(inputs, 'targets')];
  return { mean, variance, targets, size: tf.util.sizeFromShape(mean.shape) };
}
