import { InnerLayer } from '../tensorflow/layers/inner/inner-layer.ts';
import type { LayersModel, SymbolicTensor } from '../tensorflow/tf.ts';

export type Layer = LayersModel['layers'][number];
export type Shape = readonly (number | null)[];

/** One call of a layer in a forward pass. Tensors are known by their names. */
export interface LayerCall {
  layer: Layer;
  inputs: readonly SymbolicTensor[];
  outputs: readonly SymbolicTensor[];
}

/**
 * The calls of a model's forward pass, in the order in which TensorFlow.js makes them. Calls of nested models count as
 * one.
 */
export function callsOf(model: LayersModel): LayerCall[] {
  const done = new Set(model.inputs.map(({ name }) => name));
  const calls: LayerCall[] = [];
  const visit = (tensor: SymbolicTensor): void => {
    if (done.has(tensor.name)) return;
    const { sourceLayer: layer, nodeIndex } = tensor;
    // Not the tensor's own inputs, which have other names where one is repeated.
    const { inputTensors: inputs, outputTensors: outputs } = layer.inboundNodes[nodeIndex];
    // TensorFlow.js sorts depth first with a stack, which yields the last input first.
    for (const needed of inputs.toReversed()) visit(needed);
    if (done.has(tensor.name)) return;
    for (const { name } of outputs) done.add(name);
    calls.push({ layer, inputs, outputs });
  };
  for (const output of model.outputs) visit(output);
  return calls;
}

/** The model in a layer that is one, else null. */
export function nestedModel(layer: Layer): LayersModel | null {
  return 'layers' in layer && 'inputs' in layer ? (layer as unknown as LayersModel) : null;
}

/** A layer's configuration with the types of its kind. */
export interface LayerConfig {
  name: string;
  activation: string;
  recurrentActivation: string;
  padding: string;
  dataFormat: 'channelsFirst' | 'channelsLast';
  kernelSize: number | number[];
  poolSize: number | number[];
  strides: number | number[] | null;
  dilationRate: number | number[];
  depthMultiplier: number;
  units: number;
  axis: number | number[];
  axes: number | [number, number];
  normalize: boolean;
  epsilon: number;
  alpha: number;
  theta: number;
  maxValue: number | null;
  maskValue: number;
  maskZero: boolean;
  dims: number[];
  n: number;
  targetShape: number[];
  cropping: [number, number][];
  size: [number, number];
  scale: number;
  offset: number;
  returnSequences: boolean;
  returnState: boolean;
  goBackwards: boolean;
  stateful: boolean;
  mergeMode: 'concat' | 'sum' | 'ave' | 'mul' | null;
}

export function configOf(layer: Layer): LayerConfig {
  return layer.getConfig() as unknown as LayerConfig;
}

/** A weight's values, row-major. */
export interface Weight {
  shape: number[];
  data: Float32Array;
}

/** A layer's weights by their short names (`kernel`). */
export function weightsOf(layer: Layer): ReadonlyMap<string, Weight> {
  return new Map(
    layer.weights.map((weight) => {
      const tensor = weight.read();
      const { originalName } = weight;
      const name = originalName.slice(originalName.lastIndexOf('/') + 1);
      return [name, { shape: [...tensor.shape], data: tensor.dataSync<'float32'>().slice() }];
    }),
  );
}

/** An option with one number for each of `rank` axes. */
export function perAxis(option: number | readonly number[] | null | undefined, rank: number, otherwise = 1): number[] {
  const numbers = [option ?? otherwise].flat();
  return numbers.length === rank ? numbers : Array<number>(rank).fill(numbers[0]);
}

/** A weight with its axes in another order, as `tf.transpose` does. */
export function transposed({ shape, data }: Weight, order: readonly number[]): Weight {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1));
  const moved = order.map((axis) => shape[axis]);
  const values = new Float32Array(data.length);
  const index = moved.map(() => 0);
  for (let at = 0; at < values.length; at += 1) {
    values[at] = data[index.reduce((sum, i, axis) => sum + i * strides[order[axis]], 0)];
    for (let axis = index.length - 1; axis >= 0 && ++index[axis] === moved[axis]; axis -= 1) index[axis] = 0;
  }
  return { shape: moved, data: values };
}

/** A file of an export, by its path. */
export interface WrittenFile {
  path: string;
  content: Uint8Array<ArrayBuffer> | string;
}

/** A layer that the other format lacks, or that only Tutti or the project knows. */
export class UnsupportedLayerError extends Error {
  override name = 'UnsupportedLayerError';

  /** @param reason what cannot be exported, such as `its option stateful` @param format the name of the format */
  constructor(layer: Layer, format: string, reason = '') {
    const what = reason === '' ? 'has no counterpart there' : `cannot be written there: ${reason}`;
    const remedy =
      layer instanceof InnerLayer
        ? 'Make its inner members into members (tutti ensemble <run> --method unroll), and export those.'
        : 'Export the checkpoints, or the format tfjs, which has every layer.';
    super(`Layer "${layer.name}" (${layer.getClassName()}) cannot be exported to ${format}: it ${what}. ${remedy}`);
  }
}
