import type { LayersModel, SymbolicTensor } from '../tensorflow/tf.ts';

export type Layer = LayersModel['layers'][number];

/** One call of a layer in a forward pass. Values are numbered in order of use; `layer` is an index into `model.layers`. */
export interface LayerCall {
  layer: number;
  inputs: number[];
  outputs: number[];
}

/** A model's forward pass as data, the same for all members whose models have the same architecture. */
export interface ModelGraph {
  /** In the order in which TensorFlow.js calls them, which determines each call's random numbers. */
  calls: LayerCall[];
  /** In the order of the model's inputs. */
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
    // TensorFlow.js sorts depth first with a stack, which yields the last input first.
    for (const needed of tensor.inputs.toReversed()) visit(needed);
    const { sourceLayer, nodeIndex, inputs } = tensor;
    const outputs = sourceLayer.inboundNodes[nodeIndex].outputTensors;
    calls.push({
      layer: model.layers.indexOf(sourceLayer),
      inputs: inputs.map(numberOf),
      outputs: outputs.map(numberOf),
    });
  };
  for (const output of model.outputs) visit(output);
  return { calls, inputs, outputs: model.outputs.map(numberOf) };
}

/** @throws with the first layer that differs when the members' models cannot be computed as one: they have different architectures */
export function requireStackable(models: readonly LayersModel[], ranks: readonly number[]): void {
  const [first, ...others] = models;
  others.forEach((other, i) => {
    const difference = differenceOf(first, other);
    if (difference === null) return;
    throw new Error(
      `The model of rank ${ranks[i + 1]} ${difference}, compared with rank ${ranks[0]}'s: stacked members must have the same ` +
        'layers. Build the same model for every rank, or use --members-per-device 1.',
    );
  });
}

/** Where a model differs from another one that it is to be stacked with, as the end of a sentence; null if it does not. */
export function differenceOf(first: LayersModel, other: LayersModel): string | null {
  const differs = first.layers.findIndex((layer, at) => shapeOf(layer) !== shapeOf(other.layers[at]));
  if (differs >= 0) return `differs in layer ${first.layers[differs].name}`;
  const sameGraph = JSON.stringify(graphOf(first)) === JSON.stringify(graphOf(other));
  return sameGraph && first.layers.length === other.layers.length ? null : 'connects its layers differently';
}

/** The properties of a layer that must agree: kind, options and weights, but not name and initializers. */
function shapeOf(layer: Layer | undefined): string {
  if (layer === undefined) return '';
  const options = JSON.stringify(layer.getConfig(), (key, value: unknown) =>
    key === 'name' || key === 'seed' || key.endsWith('Initializer') ? undefined : value,
  );
  return `${layer.getClassName()} ${options} ${layer.weights.map(({ shape }) => shape.join()).join(';')}`;
}
