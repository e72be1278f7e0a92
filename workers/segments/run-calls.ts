import type { Layer, LayerCall } from '../tensorflow/model-graph.ts';
import type { LayersModel, Tensor } from '../tensorflow/tf.ts';

/** Members of tfjs-layers' layers that its types leave out. */
interface MaskingLayer {
  supportsMasking: boolean;
  computeMask: (inputs: Tensor[], masks: (Tensor | null)[]) => Tensor | (Tensor | null)[] | null | undefined;
}

/** Values of a forward pass by their numbers in the model's graph. */
export type Values = ReadonlyMap<number, Tensor>;

/**
 * Calls layers one after the other, as `model.apply` does for all of them, with masks where layers make any.
 * @param given the values that the calls do not compute
 */
export function runCalls(model: LayersModel, calls: readonly LayerCall[], given: Values, training: boolean): Values {
  const values = new Map(given);
  const masks = new Map<number, Tensor | null>();
  // tfjs passes the last mask on to layers without one, because all calls share their arguments.
  const options: { training: boolean; mask?: Tensor | null } = { training };
  for (const { layer: index, inputs, outputs } of calls) {
    const layer = model.layers[index];
    const own = inputs.map((input) => valueOf(values, input, layer));
    const ownMasks = inputs.map((input) => masks.get(input) ?? null);
    if (ownMasks.some((mask) => mask !== null)) [options.mask] = ownMasks;
    const results = [layer.apply(own.length === 1 ? own[0] : own, options) as Tensor | Tensor[]].flat();
    const mask = maskAfter(layer, own, ownMasks);
    outputs.forEach((output, i) => {
      values.set(output, results[i]);
      masks.set(output, mask);
    });
  }
  return values;
}

function maskAfter(layer: Layer, inputs: Tensor[], masks: (Tensor | null)[]): Tensor | null {
  const { supportsMasking } = layer as unknown as MaskingLayer;
  if (!supportsMasking) return null;
  const mask = (layer as unknown as MaskingLayer).computeMask(inputs, masks);
  return (Array.isArray(mask) ? mask[0] : mask) ?? null;
}

function valueOf(values: Values, number: number, { name }: Layer): Tensor {
  const value = values.get(number);
  if (value === undefined) throw new Error(`The layer "${name}" is called before one of its inputs is computed.`);
  return value;
}
