import { tf } from '../tensorflow/tf.ts';
import type { Layer } from './model-graph.ts';
import type { StackedLayer } from './stacked-layers.ts';
import { asMatrices, stackWeight, withShapeOf } from './stacked-values.ts';

/** Whether a layer normalisation is one over the last axis, as it is by default. */
export function isOverLastAxis(layer: Layer): boolean {
  const axes = [layer.getConfig().axis].flat();
  const [{ rank }] = layer.inboundNodes[0].outputTensors;
  return axes.length === 1 && (axes[0] === -1 || axes[0] === rank - 1);
}

/**
 * (x − mean) / √(variance + ε) · γ + β over the last axis (Ba et al., 2016, "Layer normalization"), with γ and β `[M, 1, I]`. It takes fewer
 * ops than TensorFlow.js's own, which tiles everything to the size of x.
 */
export function stackLayerNormalization(layers: readonly Layer[]): StackedLayer {
  const { epsilon, scale, center } = layers[0].getConfig() as { epsilon: number; scale: boolean; center: boolean };
  const gamma = scale ? stackWeight(layers, 0) : null;
  const beta = center ? stackWeight(layers, scale ? 1 : 0) : null;
  return {
    weights: [gamma, beta].filter((weight) => weight !== null),
    apply([x]) {
      const values = asMatrices(x);
      const centered = tf.sub(values, tf.mean(values, -1, true));
      const variance = tf.mean(tf.square(centered), -1, true);
      const normed = tf.mul(centered, tf.rsqrt(tf.add(variance, epsilon)));
      const scaled = gamma === null ? normed : tf.mul(normed, gamma.variable);
      return [withShapeOf(x, beta === null ? scaled : tf.add(scaled, beta.variable))];
    },
  };
}
