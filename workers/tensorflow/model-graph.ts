import type { LayersModel, SymbolicTensor } from './tf.ts';

export type Layer = LayersModel['layers'][number];

/**
 * One call of a layer in a forward pass. Values are numbered in order of use; `layer` is an index into `model.layers`.
 */
export interface LayerCall {
  layer: number;
  inputs: number[];
  outputs: number[];
}

/** A model's forward pass as data, the same for all members whose models have the same architecture. */
export interface ModelGraph {
  /** The calls in the order of TensorFlow.js, which determines each call's random numbers. */
  calls: LayerCall[];
  /** The inputs in the order of the model. */
  inputs: number[];
  outputs: number[];
}

export function graphOf(model: LayersModel): ModelGraph {
  const numbers = new Map<string, number>();
  const numberOf = ({ name }: SymbolicTensor): number => {
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  };
  const inputs = model.inputs.map(numberOf);
  const calls: LayerCall[] = [];
  const visit = (tensor: SymbolicTensor): void => {
    if (numbers.has(tensor.name)) return;
    const { sourceLayer, nodeIndex } = tensor;
    // Not the tensor's own inputs, which have other names where one is repeated.
    const { inputTensors, outputTensors } = sourceLayer.inboundNodes[nodeIndex];
    // TensorFlow.js sorts depth first with a stack, which yields the last input first.
    for (const needed of inputTensors.toReversed()) visit(needed);
    calls.push({
      layer: model.layers.indexOf(sourceLayer),
      inputs: inputTensors.map(numberOf),
      outputs: outputTensors.map(numberOf),
    });
  };
  for (const output of model.outputs) visit(output);
  return { calls, inputs, outputs: model.outputs.map(numberOf) };
}
