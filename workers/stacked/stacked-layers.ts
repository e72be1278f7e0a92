import { type LayersModel, tf, type Tensor } from '../tensorflow/tf.ts';
import type { Layer } from '../tensorflow/model-graph.ts';
import {
  type Draw,
  isOverLastAxis,
  stackDense,
  stackDropout,
  type StackedLayer,
  stackLayerNormalization,
} from './stacked-kinds.ts';
import { membersOf, spread } from './stacked-variable.ts';

/** How a kind of layer is stacked: by a special computation, with members as additional samples, or not at all. */
export type Stacking = 'stacked' | 'folded' | 'by-member';

/** Layers without weights and random numbers that treat samples separately: members become samples. */
const foldedKinds = new Set(
  `Activation ReLU LeakyReLU ELU ThresholdedReLU Softmax Flatten Reshape Permute RepeatVector Rescaling
  Add Multiply Average Maximum Minimum Concatenate Cropping2D UpSampling2D ZeroPadding2D
  MaxPooling1D AveragePooling1D MaxPooling2D AveragePooling2D MaxPooling3D AveragePooling3D
  GlobalAveragePooling1D GlobalMaxPooling1D GlobalAveragePooling2D GlobalMaxPooling2D`.split(/\s+/),
);

/** Those of them that compute with a mask. */
const maskedKinds = ['Softmax', 'GlobalAveragePooling1D'];

/** How a layer of TensorFlow.js is stacked. A project's layers, which may do anything, never are. */
function stackingOf(layer: Layer): Stacking {
  if (stackerOf(layer) !== null) return 'stacked';
  return foldedKinds.has(layer.getClassName()) ? 'folded' : 'by-member';
}

/** The names of a model's layers that a stack runs member by member. */
export function layersByMember({ layers }: LayersModel): string[] {
  const isByMember = (layer: Layer): boolean =>
    layer.getClassName() !== 'InputLayer' && stackingOf(layer) === 'by-member';
  return layers.filter(isByMember).map(({ name }) => name);
}

/** @param layers one per member. @param draws the members' random streams */
export function stackLayer(layers: readonly Layer[], draws: readonly Draw[]): StackedLayer {
  const stack = stackerOf(layers[0]);
  if (stack !== null) return stack(layers, draws);
  return stackingOf(layers[0]) === 'folded' ? foldLayer(layers, draws) : loopLayer(layers, draws);
}

type Stacker = (layers: readonly Layer[], draws: readonly Draw[]) => StackedLayer;

/** The special computation of a layer; null for layers and options without one. */
function stackerOf(layer: Layer): Stacker | null {
  if (!layer.trainable || layer.weights.some((weight) => !weight.trainable)) return null;
  switch (layer.getClassName()) {
    case 'Dense':
      return stackDense;
    case 'Dropout':
      return isDefault(layer.getConfig().noiseShape) ? stackDropout : null;
    case 'LayerNormalization':
      return isOverLastAxis(layer) ? stackLayerNormalization : null;
    default:
      return null;
  }
}

/** Applies the first member's layer to the samples of all members: all members' layers are equal. */
function foldLayer(layers: readonly Layer[], draws: readonly Draw[]): StackedLayer {
  const [layer] = layers;
  const looped = maskedKinds.includes(layer.getClassName()) ? loopLayer(layers, draws) : null;
  return {
    weights: [],
    apply(inputs, masks) {
      if (looped !== null && masks !== null) return looped.apply(inputs, masks);
      const members = Math.max(...inputs.map(({ shape }) => shape[0]));
      const folded = inputs.map((x) => {
        const [, samples, ...rest] = x.shape;
        return tf.reshape(spread(x, members), [members * samples, ...rest]);
      });
      return asList(layer.apply(folded.length === 1 ? folded[0] : folded)).map((y) =>
        tf.reshape(y, [members, y.shape[0] / members, ...y.shape.slice(1)]),
      );
    },
  };
}

/** Applies each member's layer, one after the other. */
function loopLayer(layers: readonly Layer[], draws: readonly Draw[]): StackedLayer {
  return {
    weights: [],
    apply(inputs, masks) {
      const byInput = inputs.map((x) => membersOf(x, layers.length));
      const outputs = layers.map((layer, member) => {
        const own = byInput.map((ofMembers) => ofMembers[member]);
        const options = { training: true, ...(masks === null ? {} : { mask: masks[member] }) };
        return draws[member](() => asList(layer.apply(own.length === 1 ? own[0] : own, options)));
      });
      return outputs[0].map((_, i) => tf.stack(outputs.map((ofMember) => ofMember[i])));
    },
  };
}

function isDefault(option: unknown): boolean {
  return option === null || option === undefined;
}

function asList(outputs: unknown): Tensor[] {
  return (Array.isArray(outputs) ? outputs : [outputs]) as Tensor[];
}
