import { tf, type Tensor } from '../tensorflow/tf.ts';
import type { Layer } from '../tensorflow/model-graph.ts';
import type { Masks } from './stacked-masks.ts';
import { canNormalizeRows, normalizeRows } from '../backends/wasm/fused-layers.ts';
import { asMatrices, spread, type StackedVariable, stackWeight, withShapeOf } from './stacked-variable.ts';

/** A member's random stream: `Math.random` draws from it within `body`. */
export type Draw = <T>(body: () => T) => T;

/**
 * The same layer of M members as one. Values have a leading axis of members, `[M, B, ...]`, or `[1, B, ...]` while all
 * members share them.
 */
export interface StackedLayer {
  /** The stacked weights, which are trained together. */
  readonly weights: readonly StackedVariable[];
  /** The layer's forward pass in training mode. @param masks those that each member's layer would get; null for none */
  apply(inputs: Tensor[], masks: Masks | null): Tensor[];
}

/** act(x W + b): kernels `[M, I, O]`, biases `[M, 1, O]`. */
export function stackDense(layers: readonly Layer[]): StackedLayer {
  const kernel = stackWeight(layers, 0);
  const bias = layers[0].weights.length > 1 ? stackWeight(layers, 1) : null;
  const activation = layers[0].getConfig().activation as string;
  // The product's kernel includes ReLU; the layer's function applies other activations.
  const isFused = activation === 'relu' || activation === 'linear';
  const activate = (layers[0] as unknown as { activation: { apply(x: Tensor): Tensor } }).activation;
  return {
    weights: bias === null ? [kernel] : [kernel, bias],
    apply([x]) {
      const matrices = asMatrices(x);
      const product = stackedProduct(
        matrices,
        kernel.variable,
        bias?.variable ?? null,
        isFused ? activation : 'linear',
      );
      const y = withShapeOf(x, product);
      return [isFused ? y : activate.apply(y)];
    },
  };
}

/**
 * x · ⌊u + keep⌋ / keep, like TensorFlow.js, with the numbers u in [0, 1) that each member would draw alone. Only these
 * are drawn member by member.
 */
export function stackDropout([layer]: readonly Layer[], draws: readonly Draw[]): StackedLayer {
  const { rate, seed } = layer.getConfig() as { rate: number; seed?: number | null };
  const keep = 1 - rate;
  return {
    weights: [],
    apply([x]) {
      if (!(rate > 0 && rate < 1)) return [x];
      const shape = [1, ...x.shape.slice(1)];
      const uniforms = draws.map((draw) => draw(() => tf.randomUniform(shape, 0, 1, 'float32', seed ?? undefined)));
      return [tf.mul(x, tf.div(tf.floor(tf.add(tf.concat(uniforms), keep)), keep))];
    },
  };
}

/** Whether a layer normalisation is over the last axis, which is the default. */
export function isOverLastAxis(layer: Layer): boolean {
  const axes = [layer.getConfig().axis].flat();
  const [{ rank }] = layer.inboundNodes[0].outputTensors;
  return axes.length === 1 && (axes[0] === -1 || axes[0] === rank - 1);
}

/**
 * (x − mean) / √(variance + ε) · γ + β over the last axis (Ba et al., 2016, "Layer normalization"), with γ and β
 * `[M, 1, I]`. Without a kernel it takes fewer ops than TensorFlow.js too, which tiles all operands to the size of x.
 */
export function stackLayerNormalization(layers: readonly Layer[]): StackedLayer {
  const { epsilon, scale, center } = layers[0].getConfig() as { epsilon: number; scale: boolean; center: boolean };
  const gamma = scale ? stackWeight(layers, 0) : null;
  const beta = center ? stackWeight(layers, scale ? 1 : 0) : null;
  return {
    weights: [gamma, beta].filter((weight) => weight !== null),
    apply([x]) {
      if (canNormalizeRows(x)) {
        const shape = [layers.length, 1, x.shape[x.rank - 1]];
        const [scales, offsets] = [gamma?.variable ?? tf.ones(shape), beta?.variable ?? tf.zeros(shape)];
        return [normalizeRows(spread(x, layers.length), scales, offsets, { epsilon, members: layers.length })];
      }
      const values = asMatrices(x);
      const centered = tf.sub(values, tf.mean(values, -1, true));
      const variance = tf.mean(tf.square(centered), -1, true);
      const normed = tf.mul(centered, tf.rsqrt(tf.add(variance, epsilon)));
      const scaled = gamma === null ? normed : tf.mul(normed, gamma.variable);
      return [withShapeOf(x, beta === null ? scaled : tf.add(scaled, beta.variable))];
    },
  };
}

/**
 * act(x W + b) for M members in one kernel and with one gradient: x `[M, B, I]` or `[1, B, I]`, W `[M, I, O]`, b
 * `[M, 1, O]`, the result `[M, B, O]`. TensorFlow.js's op consists of several while a tape records.
 */
function stackedProduct(x: Tensor, weights: Tensor, bias: Tensor | null, activation: 'linear' | 'relu'): Tensor {
  const inputs = { a: x, b: weights, ...(bias === null ? {} : { bias }) };
  return tf.engine().runKernel('_FusedMatMul', inputs, { transposeA: false, transposeB: false, activation });
}
