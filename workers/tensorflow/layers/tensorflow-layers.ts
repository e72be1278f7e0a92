import * as core from '@tensorflow/tfjs-core';
import type { Tensor } from '@tensorflow/tfjs-core';
import * as layers from '@tensorflow/tfjs-layers';

/** The members of a tfjs-layers layer that this folder uses; most of them are private. */
export interface TensorflowLayer {
  name: string;
  trainable: boolean;
  padding: string;
  dataFormat: string;
  kernelSize: number[];
  strides: number[];
  dilationRate: number[];
  axis: number | number[];
  scale: boolean;
  center: boolean;
  alpha: number;
  theta: number;
  maskValue: number;
  activation: Activation;
  pointwiseInitializer: object;
  depthwiseKernel: Weight;
  bias: Weight | null;
  gamma?: Weight | null;
  beta?: Weight | null;
  call: (this: TensorflowLayer, inputs: Tensor | Tensor[], options: object) => Tensor;
  computeMask: (
    this: TensorflowLayer,
    inputs: Tensor | Tensor[],
    masks?: Tensor | (Tensor | null)[] | null,
  ) => Tensor | null;
  computeOutputShape: (this: TensorflowLayer, inputShape: number[]) => number[];
}

export interface Weight {
  trainable?: boolean;
  read(): Tensor;
}

export interface Activation {
  apply: (x: Tensor, axis?: number) => Tensor;
  getClassName(): string;
}

export type LayerOptions = Record<string, unknown>;
type Factory = (options?: LayerOptions) => TensorflowLayer;

/** `tf.layers`: the functions that create layers. Projects import the same object. */
export const factories = layers.layers as unknown as Record<string, Factory>;

/** The prototype of a kind of layer, whose methods can be replaced: the package exports no classes. */
export function methodsOf(kind: string, options: LayerOptions = {}): TensorflowLayer {
  // An explicit name: automatic names count all layers that were ever created.
  return Object.getPrototypeOf(factories[kind]({ ...options, name: `${kind}-methods` })) as TensorflowLayer;
}

/** Computes a layer's output. */
export type Compute = (layer: TensorflowLayer, x: Tensor) => Tensor;

/**
 * Replaces the computation of a kind of layer; `compute` gets the previous computation as `stock`, and the call's
 * options.
 */
export function replaceCall(
  methods: TensorflowLayer,
  compute: (layer: TensorflowLayer, x: Tensor, stock: Compute, options: object) => Tensor,
): void {
  const { call } = methods;
  methods.call = function correctedCall(this: TensorflowLayer, inputs, options) {
    const x = Array.isArray(inputs) ? inputs[0] : inputs;
    return core.tidy(() => compute(this, x, (layer, input) => call.call(layer, input, options), options));
  };
}

/** A view of a layer with other values of some properties; the layer itself does not change. */
export function viewOf<L extends TensorflowLayer>(layer: L, properties: Partial<L>): L {
  const view = Object.create(layer) as L;
  for (const [name, value] of Object.entries(properties)) Object.defineProperty(view, name, { value, writable: true });
  return view;
}

/** An activation that does nothing. */
export const linear: Activation = { apply: (x) => x, getClassName: () => 'linear' };
