import type { Batch } from '../data/dataset.ts';
import { tf, type Tensor } from '../tensorflow/tf.ts';

/**
 * Batches of the same size as one: features `[M, B, ...]`, or `[1, B, ...]` where all are the same, and targets `[M, B]` or
 * `[M, B, T]`, one for each member in any case.
 */
export function stackBatches(batches: readonly Batch[], isShared: boolean): [Tensor, Tensor] {
  const [{ featureShape, targetShape, targets }] = batches;
  const features = isShared ? batches[0].features : joined(batches.map((batch) => batch.features));
  const dtype = targets instanceof Int32Array ? 'int32' : 'float32';
  return [
    tf.tensor(features, [isShared ? 1 : batches.length, ...featureShape]),
    tf.tensor(joined(batches.map((batch) => batch.targets)), [batches.length, ...targetShape], dtype),
  ];
}

function joined(arrays: readonly (Float32Array | Int32Array)[]): Float32Array | Int32Array {
  const [{ length }] = arrays;
  const size = length * arrays.length;
  const whole = arrays[0] instanceof Int32Array ? new Int32Array(size) : new Float32Array(size);
  arrays.forEach((array, i) => whole.set(array, i * length));
  return whole;
}
