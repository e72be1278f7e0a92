import { tf, type Tensor } from '../tensorflow/tf.ts';

/**
 * act(x W + b) for M members in one kernel and with one gradient: x `[M, B, I]` or `[1, B, I]`, W `[M, I, O]`, b `[M, 1, O]`, the result
 * `[M, B, O]`. TensorFlow.js's own op takes several while a tape records.
 */
export function stackedProduct(x: Tensor, weights: Tensor, bias: Tensor | null, activation: 'linear' | 'relu'): Tensor {
  const inputs = { a: x, b: weights, ...(bias === null ? {} : { bias }) };
  return tf.engine().runKernel('_FusedMatMul', inputs, { transposeA: false, transposeB: false, activation });
}
