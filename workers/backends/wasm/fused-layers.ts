import { byMatrix, isFrozen } from '../../tensorflow/layers/normalization.ts';
import { type Tensor, tf } from '../../tensorflow/tf.ts';

/** Private members of tfjs-layers' dense layer. */
interface Dense {
  activation: { getClassName(): string; apply(x: Tensor): Tensor };
  kernel: { read(): Tensor };
  bias?: { read(): Tensor } | null;
  invokeCallHook(inputs: Tensor | Tensor[], options: object): void;
  call: (this: Dense, inputs: Tensor | Tensor[], options: object) => Tensor;
}

/** Activations that the op and its gradients compute. */
const fused = new Set(['linear', 'relu', 'sigmoid', 'tanh']);

/**
 * Makes dense layers compute with one op, and one op for each gradient, if the backend has it. In a small network, the
 * ops that tfjs composes a layer of (sixteen for a sigmoid layer and its gradients; five here) take longer than the
 * arithmetic.
 */
export function denseInLayers(): void {
  const layers = Object.getPrototypeOf(tf.layers.dense({ units: 1 })) as Dense;
  const { call } = layers;
  layers.call = function computeOrCall(this: Dense, inputs, options) {
    const x = Array.isArray(inputs) ? inputs[0] : inputs;
    const hasKernel = tf.getKernel('Dense', tf.getBackend()) !== undefined && !isInNestedGradient();
    if (x.rank !== 2 || x.dtype !== 'float32' || !hasKernel) return call.call(this, inputs, options);
    this.invokeCallHook(inputs, options);
    return compute(this, x);
  };
}

function compute({ activation, kernel, bias }: Dense, x: Tensor): Tensor {
  const inputs = { x, kernel: kernel.read(), ...(bias ? { bias: bias.read() } : {}) };
  const run = (name: string): Tensor => tf.engine().runKernel('Dense', inputs, { activation: name });
  const name = activation.getClassName();
  return fused.has(name) ? run(name) : tf.tidy(() => activation.apply(run('linear')));
}

/** Private members of an activation of tfjs-layers. */
interface Activation {
  apply: (this: Activation, x: Tensor, alpha?: number) => Tensor;
}

/** Makes GELU and swish one op each, and one product for the gradient; tfjs composes a GELU of six ops. */
export function activateInLayers(): void {
  for (const [name, op] of [
    ['gelu', 'Gelu'],
    ['swish', 'Swish'],
  ] as const) {
    const layer = tf.layers.activation({ activation: name }) as unknown as { activation: Activation };
    const methods = Object.getPrototypeOf(layer.activation) as Activation;
    const { apply } = methods;
    methods.apply = function activateOrApply(this: Activation, x, alpha = 1) {
      const hasKernel = tf.getKernel(op, tf.getBackend()) !== undefined && !isInNestedGradient();
      if (x.dtype !== 'float32' || alpha !== 1 || !hasKernel) return apply.call(this, x, alpha);
      return tf.tidy(() => (tf.engine().runKernel(op, { x }) as unknown as Tensor[])[0]);
    };
  }
}

/** Private members of tfjs-layers' batch normalization. */
interface BatchNormalization {
  trainable: boolean;
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
  trainable?: boolean;
  read(): Tensor;
  write(value: Tensor): void;
}

/**
 * Makes layers normalize with the kernels of `batch-normalization.ts` and `layer-normalization.ts`, if the backend has
 * them. tfjs composes such a layer and its gradients of about thirty ops, with copies of the statistics as large as the
 * batch: batch normalization took three times as long as the convolutions before it.
 */
export function normalizeInLayers(): void {
  normalizeBatchesInLayers();
  normalizeSamplesInLayers();
}

/** Batch normalization in training steps. Inference is unchanged. */
function normalizeBatchesInLayers(): void {
  const layers = Object.getPrototypeOf(tf.layers.batchNormalization()) as BatchNormalization;
  const { call } = layers;
  layers.call = function normalizeOrCall(this: BatchNormalization, inputs, options) {
    const x = Array.isArray(inputs) ? inputs[0] : inputs;
    const isLastAxis = this.axis === -1 || this.axis === x.rank - 1;
    const hasKernel = tf.getKernel('NormalizeBatch', tf.getBackend()) !== undefined && !isInNestedGradient();
    if (options.training !== true || isFrozen(this) || !isLastAxis || !hasKernel)
      return call.call(this, inputs, options);
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

/** average ← momentum · average + (1 − momentum) · value, in the order of tfjs-layers' arithmetic. */
function moveTowards(average: LayerVariable, value: Tensor, momentum: number): void {
  tf.tidy(() => {
    const before = average.read();
    average.write(tf.sub(before, tf.mul(tf.sub(before, value), 1 - momentum)));
  });
}

/** Private members of tfjs-layers' layer normalization, once it is built. */
interface LayerNormalization {
  axis: number[];
  epsilon: number;
  gamma: LayerVariable | null;
  beta: LayerVariable | null;
  call: (this: LayerNormalization, inputs: Tensor | Tensor[], options: object) => Tensor;
}

function normalizeSamplesInLayers(): void {
  const layers = Object.getPrototypeOf(tf.layers.layerNormalization()) as LayerNormalization;
  const { call } = layers;
  layers.call = function normalizeOrCall(this: LayerNormalization, inputs, options) {
    const x = Array.isArray(inputs) ? inputs[0] : inputs;
    if (!canNormalizeRows(x)) return call.call(this, inputs, options);
    const { axis, epsilon } = this;
    return tf.tidy(() => {
      const shape = axis.map((each) => x.shape[each]);
      const [gamma, beta] = [this.gamma?.read() ?? tf.ones(shape), this.beta?.read() ?? tf.zeros(shape)];
      const normalize = (values: Tensor) => normalizeRows(values, gamma, beta, { epsilon, members: 1 });
      const isLast = axis.every((each, i) => each === x.rank - axis.length + i);
      return isLast ? normalize(x) : byMatrix(x, axis, normalize);
    });
  };
}

/** Whether {@link normalizeRows} works for such values on the current backend. */
export function canNormalizeRows({ dtype }: Tensor): boolean {
  return tf.getKernel('NormalizeRows', tf.getBackend()) !== undefined && dtype === 'float32' && !isInNestedGradient();
}

/** Layer normalization in one kernel, see `kernels/layer-normalization.ts`: x `[M, ..., C]` with γ and β `[M, C]`. */
export function normalizeRows(
  x: Tensor,
  gamma: Tensor,
  beta: Tensor,
  attributes: { epsilon: number; members: number },
): Tensor {
  return tf.tidy(() => {
    const outputs = tf.engine().runKernel('NormalizeRows', { x, gamma, beta }, attributes);
    return (outputs as unknown as Tensor[])[0];
  });
}

/** Whether a gradient of a gradient is being computed: the fused ops have only first derivatives. */
export function isInNestedGradient(): boolean {
  const { state } = tf.engine() as unknown as { state: { gradientDepth: number } };
  return state.gradientDepth > 1;
}
