import { tf, type Tensor } from '../../../tensorflow/tf.ts';
import { isInNestedGradient } from '../nested-gradient.ts';

/** What is private in tfjs-layers' batch normalisation. */
interface BatchNormalization {
  axis: number;
  epsilon: number;
  momentum: number;
  gamma?: LayerVariable;
  beta?: LayerVariable;
  movingMean: LayerVariable;
  movingVariance: LayerVariable;
  call: (this: BatchNormalization, inputs: Tensor | Tensor[], options: { training?: boolean }) => Tensor;
}

interface LayerVariable {
  read(): Tensor;
  write(value: Tensor): void;
}

/**
 * Lets layers normalise batches of a training step with the kernels of `batch-normalization.ts` where the backend has them: what tfjs
 * composes it of (some thirty ops with their gradients, copies of the statistics as large as the batch among them) took three times as long
 * as the convolutions before it. Inference stays the layer's own.
 */
export function normalizeInLayers(): void {
  const layers = Object.getPrototypeOf(tf.layers.batchNormalization()) as BatchNormalization;
  const { call } = layers;
  layers.call = function normalizeOrCall(this: BatchNormalization, inputs, options) {
    const x = Array.isArray(inputs) ? inputs[0] : inputs;
    const isLastAxis = this.axis === -1 || this.axis === x.rank - 1;
    const hasKernel = tf.getKernel('NormalizeBatch', tf.getBackend()) !== undefined && !isInNestedGradient();
    if (options.training !== true || !isLastAxis || !hasKernel) return call.call(this, inputs, options);
    return tf.tidy(() => normalize(this, x));
  };
}

function normalize(layer: BatchNormalization, x: Tensor): Tensor {
  const { movingMean, movingVariance, momentum, epsilon } = layer;
  const columns = x.shape[x.rank - 1];
  const gamma = layer.gamma?.read() ?? tf.ones([columns]);
  const beta = layer.beta?.read() ?? tf.zeros([columns]);
  const outputs = tf.engine().runKernel('NormalizeBatch', { x, gamma, beta }, { epsilon });
  const [y, mean, variance] = outputs as unknown as Tensor[];
  moveTowards(movingMean, mean, momentum);
  moveTowards(movingVariance, variance, momentum);
  return y;
}

/** average ← momentum · average + (1 − momentum) · value, in the order of tfjs-layers' own arithmetic. */
function moveTowards(average: LayerVariable, value: Tensor, momentum: number): void {
  tf.tidy(() => {
    const before = average.read();
    average.write(tf.sub(before, tf.mul(tf.sub(before, value), 1 - momentum)));
  });
}
