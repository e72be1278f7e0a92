import * as core from '@tensorflow/tfjs-core';
import type { Tensor } from '@tensorflow/tfjs-core';
import {
  type Activation,
  factories,
  type LayerOptions,
  methodsOf,
  replaceCall,
  type TensorflowLayer,
} from './tensorflow-layers.ts';

/** Adds the axes, options and gradients of activations that TensorFlow.js lacks. */
export function correctActivations(): void {
  for (const name of ['softmax', 'logSoftmax']) normalizeOverAnyAxis(name);
  takeLastAxis();
  scaleElu();
  replaceCall(methodsOf('thresholdedReLU'), ({ theta }, x) =>
    // tfjs uses a comparison, which has no gradient; the gradient of a step is 0.
    core.mul(x, core.step(core.sub(x, theta))),
  );
  correctMasking();
}

/** tfjs supports only the last axis, so another axis is swapped with it before and after. */
function normalizeOverAnyAxis(name: string): void {
  const { activation } = factories.activation({ activation: name, name: `${name}-methods` });
  const methods = Object.getPrototypeOf(activation) as Activation;
  const { apply } = methods;
  methods.apply = (x, axis = -1) => {
    if (axis === -1 || axis === x.rank - 1) return apply(x);
    const swap = swapped(x.rank, axis < 0 ? axis + x.rank : axis);
    return core.tidy(() => core.transpose(apply(core.transpose(x, swap)), swap));
  };
}

/** The permutation that swaps an axis with the last. */
function swapped(rank: number, axis: number): number[] {
  return Array.from({ length: rank }, (_, i) => (i === axis ? rank - 1 : i === rank - 1 ? axis : i));
}

/** Makes the last axis the default, as documented by tfjs and Keras; the layer itself uses axis 1. */
function takeLastAxis(): void {
  const { softmax } = factories;
  factories.softmax = (options) => softmax({ ...options, axis: options?.axis ?? -1 });
}

/** α(eˣ − 1) for x below 0 (Clevert et al., 2016, eq. 15); tfjs's layer supports only α = 1. */
function scaleElu(): void {
  const { elu } = factories;
  const create = (options: LayerOptions = {}): TensorflowLayer => {
    const { alpha, ...others } = options;
    const layer = elu(others);
    layer.alpha = typeof alpha === 'number' ? alpha : 1;
    return layer;
  };
  factories.elu = create;
  const methods = methodsOf('elu');
  const kind = methods.constructor as core.serialization.SerializableConstructor<core.serialization.Serializable>;
  Object.assign(kind, { fromConfig: (_: unknown, config: LayerOptions) => create(config) });
  // Layers that are rebuilt from a file then use it too.
  core.serialization.registerClass(kind);
  replaceCall(methods, (layer, x, stock) => {
    if (layer.alpha === 1) return stock(layer, x);
    return core.add(core.relu(x), core.mul(layer.alpha, core.elu(core.minimum(x, 0))));
  });
}

/** tfjs uses a comparison, which has no gradient, so that layers before the mask could not be trained. */
function correctMasking(): void {
  const methods = methodsOf('masking');
  const isKept = (x: Tensor, maskValue: number, keepAxis: boolean) =>
    core.any(core.notEqual(x, maskValue), -1, keepAxis);
  methods.computeMask = function computeMask(this: TensorflowLayer, inputs) {
    const x = Array.isArray(inputs) ? inputs[0] : inputs;
    return constantOf(x, () => isKept(x, this.maskValue, false));
  };
  replaceCall(methods, ({ maskValue }, x) =>
    core.mul(
      x,
      constantOf(x, () => core.cast(isKept(x, maskValue, true), 'float32')),
    ),
  );
}

/** A value computed from x that counts as a constant for gradients. */
function constantOf(x: Tensor, compute: () => Tensor): Tensor {
  const constant = core.customGrad(() => ({ value: compute(), gradFunc: () => core.zerosLike(x) }));
  return constant(x);
}
