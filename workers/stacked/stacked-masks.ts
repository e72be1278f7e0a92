import { tf, type Tensor } from '../tensorflow/tf.ts';
import type { Layer } from '../tensorflow/model-graph.ts';
import { membersOf } from './stacked-variable.ts';

/** The masks of a value, one per member; null for a member's value without a mask. */
export type Masks = readonly (Tensor | null)[];

/** Members of tfjs-layers' layers that its types leave out. */
interface MaskingLayer {
  supportsMasking: boolean;
  computeMask: (inputs: Tensor[], masks: (Tensor | null)[]) => Tensor | (Tensor | null)[] | null | undefined;
}

/**
 * The masks of a layer's outputs, computed for each member as `model.apply` does; null where there are none.
 * @param layers one per member. @param inputs `[M, B, ...]` or `[1, B, ...]`. @param masks of the inputs
 */
export function outputMasks(
  layers: readonly Layer[],
  inputs: readonly Tensor[],
  masks: readonly (Masks | null)[],
): Masks | null {
  const masking = layers as unknown as readonly MaskingLayer[];
  const hasMask = masks.some((ofInput) => ofInput !== null);
  if (!masking[0].supportsMasking || (!hasMask && !mayCreateMasks(layers[0]))) return null;
  const byInput = inputs.map((x) => membersOf(x, layers.length));
  const found = masking.map((layer, member) => {
    const computed = layer.computeMask(
      byInput.map((own) => own[member]),
      masks.map((ofInput) => ofInput?.[member] ?? null),
    );
    return (Array.isArray(computed) ? computed[0] : computed) ?? null;
  });
  return found.some((mask) => mask !== null) ? found : null;
}

/** Layers pass masks on by default. */
function mayCreateMasks(layer: Layer): boolean {
  return (layer as unknown as MaskingLayer).computeMask !== passMasksOn;
}

const passMasksOn = (tf.layers.Layer.prototype as unknown as MaskingLayer).computeMask;
