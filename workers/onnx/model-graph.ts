import {
  callsOf,
  configOf,
  type Layer,
  type LayerCall,
  nestedModel,
  type Shape,
  UnsupportedLayerError,
} from '../exchange/model-calls.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import type { GraphBuilder } from './graph.ts';
import { LayerContext, type LayerInput } from './layers/context.ts';
import { onnxLayers } from './layers/index.ts';
import { keptSteps } from './layers/shapes.ts';

/** What TensorFlow.js passes from layer to layer besides values. */
interface Passed {
  /** The last mask that a layer was called with. Layers after it get it too, unless they have their own. */
  mask?: string;
}

/**
 * Writes a model's forward pass in inference mode as nodes.
 * @param inputs names of the values of the model's inputs, in their order
 * @returns the names of its outputs
 * @throws UnsupportedLayerError for a layer that ONNX lacks
 */
export function writeModel(graph: GraphBuilder, model: LayersModel, inputs: readonly string[]): string[] {
  return writeCalls(graph, model, inputs, {});
}

function writeCalls(graph: GraphBuilder, model: LayersModel, inputs: readonly string[], passed: Passed): string[] {
  const values = new Map<string, Omit<LayerInput, 'shape'>>(
    model.inputs.map(({ name }, i) => [name, { name: inputs[i] }]),
  );
  for (const call of callsOf(model)) {
    const given = call.inputs.map(({ name, shape }) => ({ ...valueOf(values, name), shape }));
    const mask = given[0]?.mask;
    if (mask !== undefined) passed.mask = mask;
    const names = graph.within(call.layer.name, () => writeCall(graph, call, given, passed));
    const outputMask = maskAfter(graph, call.layer, given);
    call.outputs.forEach(({ name }, i) => values.set(name, { name: names[i], mask: outputMask }));
  }
  return model.outputs.map(({ name }) => valueOf(values, name).name);
}

function valueOf<V>(values: ReadonlyMap<string, V>, name: string): V {
  const value = values.get(name);
  if (value === undefined) throw new Error(`The model's value ${name} is used before it is computed.`);
  return value;
}

function writeCall(graph: GraphBuilder, call: LayerCall, given: readonly LayerInput[], passed: Passed): string[] {
  const { layer, outputs } = call;
  const nested = nestedModel(layer);
  if (nested !== null) {
    return writeCalls(
      graph,
      nested,
      given.map(({ name }) => name),
      passed,
    );
  }
  if (layer.getClassName() === 'TimeDistributed') return [writeEachStep(graph, call, given[0])];
  const inputs = given.map((input) => ({ ...input, mask: input.mask ?? passed.mask }));
  return writeLayer(
    graph,
    layer,
    inputs,
    outputs.map(({ shape }) => shape),
  );
}

function writeLayer(graph: GraphBuilder, layer: Layer, inputs: readonly LayerInput[], outputs: readonly Shape[]) {
  const convert = onnxLayers.get(layer.getClassName());
  if (convert === undefined) throw new UnsupportedLayerError(layer, 'ONNX');
  return [convert(new LayerContext(graph, layer, inputs, outputs))].flat();
}

/** Applies a layer to all steps at once, `[B · T, ...]`. */
function writeEachStep(graph: GraphBuilder, { layer, outputs }: LayerCall, { name, shape }: LayerInput): string {
  const inner = (layer as unknown as { layer: Layer }).layer;
  const [, steps, ...sample] = shape;
  const [, , ...result] = outputs[0].shape;
  const sizes = [steps, ...sample, ...result];
  if (sizes.some((size) => size === null))
    throw new UnsupportedLayerError(layer, 'ONNX', 'its sizes are not all known');
  const flat = graph.op('Reshape', [name, graph.integers([-1, ...(sample as number[])])]);
  const nested = nestedModel(inner);
  const [y] =
    nested === null
      ? writeLayer(graph, inner, [{ name: flat, shape: [null, ...sample] }], [[null, ...result]])
      : writeModel(graph, nested, [flat]);
  return graph.op('Reshape', [y, graph.integers([-1, steps as number, ...(result as number[])])]);
}

/** The mask of a layer's outputs, as its `computeMask` gives it. */
function maskAfter(graph: GraphBuilder, layer: Layer, inputs: readonly LayerInput[]): string | undefined {
  if (!layer.supportsMasking && layer.getClassName() !== 'Embedding') return undefined;
  const config = configOf(layer);
  switch (layer.getClassName()) {
    case 'Masking':
      return keptSteps(graph, inputs[0].name, config.maskValue);
    case 'Embedding':
      return config.maskZero ? differentFromZero(graph, inputs[0].name) : undefined;
    case 'LSTM':
    case 'GRU':
    case 'SimpleRNN':
    case 'Bidirectional':
      return isSequence(layer) ? inputs[0].mask : undefined;
    case 'Dot':
      return undefined;
    default:
      return commonMask(graph, inputs);
  }
}

function isSequence(layer: Layer): boolean {
  return (layer as unknown as { returnSequences: boolean }).returnSequences;
}

/** 1 for each id but 0, float32. */
function differentFromZero(graph: GraphBuilder, ids: string): string {
  const isZero = graph.op('Equal', [graph.op('Cast', [ids], { to: 1 }), graph.scalar(0)]);
  return graph.op('Cast', [graph.op('Not', [isZero])], { to: 1 });
}

/** Steps that count in every input that has a mask. */
function commonMask(graph: GraphBuilder, inputs: readonly LayerInput[]): string | undefined {
  const masks = inputs.flatMap(({ mask }) => mask ?? []);
  return masks.length === 0 ? undefined : masks.reduce((both, mask) => graph.op('Mul', [both, mask]));
}
