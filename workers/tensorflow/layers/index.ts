import { correctActivations } from './activations.ts';
import { correctConvolutions } from './convolutions.ts';
import { correctInitializers } from './initializers.ts';
import { registerInnerLayers } from './inner/index.ts';
import { correctNormalization } from './normalization.ts';
import { refuseOptions } from './refused-options.ts';
import { registerSampledDropout } from './sampled-dropout.ts';
import * as core from '@tensorflow/tfjs-core';
import type { Tensor } from '@tensorflow/tfjs-core';
import { methodsOf, replaceCall, type TensorflowLayer } from './tensorflow-layers.ts';
import * as layers from '@tensorflow/tfjs-layers';
import type { SymbolicTensor } from '@tensorflow/tfjs-layers';

/**
 * Corrects TensorFlow.js's layers in their classes, for all backends: what they refuse, ignore or compute wrongly. Adds
 * Tutti's own layers.
 */
export function correctLayers(): void {
  correctActivations();
  correctConvolutions();
  correctInitializers();
  correctMasks();
  correctNormalization();
  keepRepeatedInputs();
  registerSampledDropout();
  registerInnerLayers();
  refuseOptions();
}

/** Lets layers obey masks of steps, `[B, T]`, where TensorFlow.js ignores them or computes them wrongly. */
function correctMasks(): void {
  averageKeptSteps();
  joinMasks();
}

/**
 * The mean over the steps that the mask counts, Σ m·x / Σ m, as Keras' layer; TensorFlow.js averages padding too. Of a
 * sample without such a step it is 0, where Keras divides by 0.
 */
function averageKeptSteps(): void {
  replaceCall(methodsOf('globalAveragePooling1d'), (layer, x, stock, options) => {
    const { mask } = options as { mask?: Tensor | null };
    // A mask of other steps belongs to layers before.
    if (mask === undefined || mask === null || mask.shape[1] !== x.shape[1]) return stock(layer, x);
    const kept = core.cast(core.expandDims(mask, -1), 'float32');
    return core.div(core.sum(core.mul(x, kept), 1), core.maximum(core.sum(kept, 1), 1));
  });
}

/**
 * The steps that count in all inputs with a mask, as Keras 2; TensorFlow.js adds an axis and leaves out the last mask.
 */
function joinMasks(): void {
  const merge = Object.getPrototypeOf(methodsOf('add')) as TensorflowLayer;
  merge.computeMask = function computeMask(this: TensorflowLayer, _, masks) {
    const own = [masks].flat().filter((mask) => mask !== null && mask !== undefined);
    if (own.length < 2) return own[0] ?? null;
    return core.tidy(() => own.reduce((all, mask) => core.logicalAnd(all, mask)));
  };
}

/** What a call of a layer on symbolic tensors gives. */
type Apply = (this: object, inputs: unknown, options?: object) => SymbolicTensor | SymbolicTensor[];

/**
 * Lets a layer have the same tensor as several of its inputs, as `add().apply([e, e])`. TensorFlow.js counts the layers
 * that still need a tensor, but takes off one for each use, so that such a layer frees the tensor before others have
 * read it: "Tensor is disposed." in the first prediction.
 */
function keepRepeatedInputs(): void {
  const methods = layers.layers.Layer.prototype as unknown as { apply: Apply };
  const { apply } = methods;
  // Never run, and with a state, whose tensors are not freed: a further use then takes nothing off the count of the
  // first.
  const { sourceLayer } = layers.input({ shape: [1], name: 'repeated-inputs' });
  const stateful = Object.defineProperty(sourceLayer, 'stateful', { value: true });
  methods.apply = function applyOnRepeated(this: object, given, options) {
    const outputs = apply.call(this, given, options);
    for (const output of [outputs].flat()) {
      if (!(output instanceof layers.SymbolicTensor) || new Set(output.inputs).size === output.inputs.length) continue;
      const own = output.inputs;
      const inputs = own.map((input, i) => (own.indexOf(input) === i ? input : furtherUse(input, i, stateful)));
      Object.assign(output, { inputs });
    }
    return outputs;
  };
}

/** The same value by another name. The graph of a model, which is saved, is made of its nodes, and does not change. */
function furtherUse(input: SymbolicTensor, index: number, sourceLayer: SymbolicTensor['sourceLayer']): SymbolicTensor {
  const properties = { name: `${input.name}#${index}`, inputs: [], sourceLayer };
  return Object.assign(Object.create(input) as SymbolicTensor, properties);
}
