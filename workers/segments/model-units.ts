import { graphOf, type Layer, type LayerCall } from '../tensorflow/model-graph.ts';
import type { LayersModel, Variable } from '../tensorflow/tf.ts';

/**
 * A part of a model's forward pass that cannot be cut: one value enters it and one leaves it, beside the model's
 * inputs, and no layer is called outside of it, too. The first unit gets only the model's inputs; the last one returns
 * the model's outputs.
 */
export interface Unit {
  calls: readonly LayerCall[];
  /** Number of the value that enters; null for the first unit. */
  input: number | null;
  /** Numbers of the values that leave. */
  outputs: readonly number[];
}

/** Properties of layers that the layers API does not declare. */
interface MaskingLayer {
  maskZero?: boolean;
  layers?: Layer[];
  layer?: Layer;
}

/** The units of a model, in the order in which TensorFlow.js calls its layers. A model without any cut is one unit. */
export function unitsOf(model: LayersModel): Unit[] {
  const graph = graphOf(model);
  const calls = graph.calls.filter(({ layer }) => layer >= 0);
  const lastUse = new Map<number, number>();
  const lastCallOf = new Map<number, number>();
  calls.forEach(({ inputs, layer }, at) => {
    for (const input of inputs) lastUse.set(input, at);
    lastCallOf.set(layer, at);
  });
  for (const output of graph.outputs) lastUse.set(output, calls.length);
  const units: Unit[] = [];
  const isFree = new Set(graph.inputs);
  let live: number[] = [];
  let start = 0;
  let input: number | null = null;
  let openLayers = 0;
  for (const [at, call] of calls.entries()) {
    openLayers = Math.max(openLayers, lastCallOf.get(call.layer) ?? at);
    live = [...live, ...call.outputs.filter((value) => !isFree.has(value))].filter(
      (value) => (lastUse.get(value) ?? -1) > at,
    );
    if (at === calls.length - 1) break;
    // Masks travel beside the values, from layer to layer.
    if (makesMasks(model.layers[call.layer])) break;
    if (live.length !== 1 || openLayers > at) continue;
    units.push({ calls: calls.slice(start, at + 1), input, outputs: [...live] });
    [start, input] = [at + 1, live[0]];
  }
  return [...units, { calls: calls.slice(start), input, outputs: graph.outputs }];
}

/** Several units in a row as one. */
export function joinUnits(units: readonly Unit[]): Unit {
  const [first] = units;
  return { calls: units.flatMap(({ calls }) => calls), input: first.input, outputs: units[units.length - 1].outputs };
}

/** The layers that a unit calls. */
export function layersOfUnit(model: LayersModel, { calls }: Pick<Unit, 'calls'>): Layer[] {
  return [...new Set(calls.map(({ layer }) => model.layers[layer]))];
}

/** The trained weights of layers. */
export function trainedOf(layers: readonly Layer[]): Variable[] {
  return layers.flatMap((layer) => layer.trainableWeights.map((weight) => weight.read() as Variable));
}

/** The weights of layers that gradients do not update, such as running statistics. */
export function untrainedOf(layers: readonly Layer[]): Variable[] {
  return layers.flatMap((layer) => layer.nonTrainableWeights.map((weight) => weight.read() as Variable));
}

function makesMasks(layer: Layer): boolean {
  const { maskZero, layers = [], layer: wrapped } = layer as unknown as MaskingLayer;
  const inner = wrapped === undefined ? layers : [...layers, wrapped];
  return layer.getClassName() === 'Masking' || maskZero === true || inner.some(makesMasks);
}
