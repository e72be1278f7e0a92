import type { LayersModel } from '../tensorflow/tf.ts';
import {
  callsOf,
  configOf,
  type Layer,
  type LayerCall,
  nestedModel,
  type Shape,
  UnsupportedLayerError,
} from './model-calls.ts';

/** A value that a layer gets. */
export interface LayerInput {
  name: string;
  shape: Shape;
  /** The value with 1 for each step that counts, else 0: `[B, T]`. */
  mask?: string;
}

/** A format in which a model's forward pass is written. Values are known by their names. */
export interface ModelTarget {
  /** The name in messages: ONNX. */
  readonly format: string;
  /** Calls `write` for a layer, whose values may be named after it. */
  within<T>(layer: Layer, write: () => T): T;
  /** Writes a layer's call. @returns the names of its outputs */
  layer(layer: Layer, inputs: readonly LayerInput[], outputs: readonly Shape[]): string[];
  reshape(x: string, shape: readonly number[]): string;
  /** The mask of steps with a value other than `maskValue`. */
  keptSteps(x: string, maskValue: number): string;
  /** The mask of ids other than 0. */
  differentFromZero(ids: string): string;
  /** The mask of steps that count in both. */
  both(mask: string, other: string): string;
}

/** What TensorFlow.js passes from layer to layer besides values. */
interface Passed {
  /** The last mask that a layer was called with. Layers after it get it too, unless they have their own. */
  mask?: string;
  /** Its number of steps; null: any. */
  steps?: number | null;
}

/**
 * Writes a model's forward pass in inference mode.
 * @param inputs names of the values of the model's inputs, in their order
 * @returns the names of its outputs
 * @throws UnsupportedLayerError for a layer that the format lacks
 */
export function walkModel(
  model: LayersModel,
  inputs: readonly string[],
  target: ModelTarget,
  passed: Passed = {},
): string[] {
  const values = new Map<string, Omit<LayerInput, 'shape'>>(
    model.inputs.map(({ name }, i) => [name, { name: inputs[i] }]),
  );
  for (const call of callsOf(model)) {
    const given = call.inputs.map(({ name, shape }) => ({ ...valueOf(values, name), shape }));
    if (given[0]?.mask !== undefined) Object.assign(passed, { mask: given[0].mask, steps: given[0].shape[1] });
    const [names, mask] = target.within(call.layer, () => [
      writeCall(target, call, given, passed),
      maskAfter(target, call.layer, given),
    ]);
    call.outputs.forEach(({ name }, i) => values.set(name, { name: names[i], mask }));
  }
  return model.outputs.map(({ name }) => valueOf(values, name).name);
}

function valueOf<V>(values: ReadonlyMap<string, V>, name: string): V {
  const value = values.get(name);
  if (value === undefined) throw new Error(`The model's value ${name} is used before it is computed.`);
  return value;
}

function writeCall(target: ModelTarget, call: LayerCall, given: readonly LayerInput[], passed: Passed): string[] {
  const { layer, outputs } = call;
  const nested = nestedModel(layer);
  const names = given.map(({ name }) => name);
  if (nested !== null) return walkModel(nested, names, target, passed);
  if (layer.getClassName() === 'TimeDistributed') return [writeEachStep(target, call, given[0])];
  const inputs = given.map((input) => {
    const last = input.shape[1] === passed.steps ? passed.mask : undefined;
    return { ...input, mask: input.mask ?? last };
  });
  return target.layer(
    layer,
    inputs,
    outputs.map(({ shape }) => shape),
  );
}

/** Applies a layer to all steps at once, `[B · T, ...]`. */
function writeEachStep(target: ModelTarget, { layer, outputs }: LayerCall, { name, shape }: LayerInput): string {
  const inner = (layer as unknown as { layer: Layer }).layer;
  const [, steps, ...sample] = shape;
  const [, , ...result] = outputs[0].shape;
  const sizes = [steps, ...sample, ...result];
  if (sizes.some((size) => size === null)) {
    throw new UnsupportedLayerError(layer, target.format, 'its sizes are not all known');
  }
  const flat = target.reshape(name, [-1, ...(sample as number[])]);
  const nested = nestedModel(inner);
  const [y] = target.within(inner, () =>
    nested === null
      ? target.layer(inner, [{ name: flat, shape: [null, ...sample] }], [[null, ...result]])
      : walkModel(nested, [flat], target),
  );
  return target.reshape(y, [-1, steps as number, ...(result as number[])]);
}

/** The mask of a layer's outputs, as its `computeMask` gives it. */
function maskAfter(target: ModelTarget, layer: Layer, inputs: readonly LayerInput[]): string | undefined {
  const kind = layer.getClassName();
  if (kind === 'Embedding') return configOf(layer).maskZero ? target.differentFromZero(inputs[0].name) : undefined;
  if (!layer.supportsMasking) return undefined;
  switch (kind) {
    case 'Masking':
      return target.keptSteps(inputs[0].name, configOf(layer).maskValue);
    case 'LSTM':
    case 'GRU':
    case 'SimpleRNN':
    case 'Bidirectional':
      return (layer as unknown as { returnSequences: boolean }).returnSequences ? inputs[0].mask : undefined;
    case 'Dot':
      return undefined;
    case 'Concatenate':
      if (!isOfFeatures(configOf(layer).axis, inputs) && inputs.some(({ mask }) => mask !== undefined))
        throw new UnsupportedLayerError(layer, target.format, 'it joins masks of steps one after the other');
      return bothMasks(target, inputs);
    default:
      return bothMasks(target, inputs);
  }
}

/** Whether an axis is the last one. */
function isOfFeatures(axis: number | number[], [{ shape }]: readonly LayerInput[]): boolean {
  return axis === -1 || axis === shape.length - 1;
}

/** The steps that count in all inputs. */
function bothMasks(target: ModelTarget, inputs: readonly LayerInput[]): string | undefined {
  const masks = inputs.flatMap(({ mask }) => mask ?? []);
  return masks.length === 0 ? undefined : masks.reduce((all, mask) => target.both(all, mask));
}
