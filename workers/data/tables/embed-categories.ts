import { embeddingWidth } from '../../../core/preprocessing/schema.ts';
import type { CategoryFeatures } from '../dataset.ts';
import { type SymbolicTensor, tf } from '../../tensorflow/tf.ts';

/** As the embeddings of Keras and TensorFlow.js, so that a rare category counts little at the beginning. */
const largestWeight = 0.05;

/**
 * Puts a vector that is learnt in place of the one-hot features of each column of more than 20 categories; the other
 * features stay as they are. Its length is min(50, round(1.6 n^0.56)) for n categories. A dense layer without bias over
 * one-hot features is an embedding: the row of its kernel of the sample's category. A category that the training split
 * lacks, all of whose features are 0, has the vector 0.
 * @param features the input of the model, shape `[B, F]` @param categories as `model` gets them
 * @returns shape `[B, E]`
 */
export function embedCategories(features: SymbolicTensor, categories: readonly CategoryFeatures[]): SymbolicTensor {
  const all = features.shape.at(-1) ?? 0;
  const grid = tf.layers.reshape({ targetShape: [1, all, 1] });
  const inGrid = grid.apply(features) as SymbolicTensor;
  const parts: SymbolicTensor[] = [];
  let end = 0;
  const take = (upTo: number): SymbolicTensor => {
    const borders: [[number, number], [number, number]] = [
      [0, 0],
      [end, all - upTo],
    ];
    end = upTo;
    const own = tf.layers.cropping2D({ cropping: borders }).apply(inGrid);
    return tf.layers.flatten().apply(own) as SymbolicTensor;
  };
  for (const { start, count } of categories) {
    const units = embeddingWidth(count);
    if (units === null) continue;
    if (start > end) parts.push(take(start));
    const kernelInitializer = tf.initializers.randomUniform({ minval: -largestWeight, maxval: largestWeight });
    const embedding = tf.layers.dense({ units, useBias: false, kernelInitializer });
    parts.push(embedding.apply(take(start + count)) as SymbolicTensor);
  }
  if (parts.length === 0) return features;
  if (end < all) parts.push(take(all));
  return parts.length === 1 ? parts[0] : (tf.layers.concatenate().apply(parts) as SymbolicTensor);
}
