import * as layers from '@tensorflow/tfjs-layers';
import type { SymbolicTensor } from '@tensorflow/tfjs-layers';

/** What a call of a layer on symbolic tensors gives. */
type Apply = (this: object, inputs: unknown, options?: object) => SymbolicTensor | SymbolicTensor[];

/**
 * Lets a layer have the same tensor as several of its inputs, as `add().apply([e, e])`. TensorFlow.js counts the layers
 * that still need a tensor, but takes off one for each use, so that such a layer frees the tensor before others have
 * read it: "Tensor is disposed." in the first prediction.
 */
export function keepRepeatedInputs(): void {
  const methods = layers.layers.Layer.prototype as unknown as { apply: Apply };
  const { apply } = methods;
  // Never run, and with a state, whose tensors are not freed: a further use then takes nothing off the count of the
  // first.
  const { sourceLayer } = layers.input({ shape: [1], name: 'repeated-inputs' });
  const stateful = Object.defineProperty(sourceLayer, 'stateful', { value: true });
  methods.apply = function applyOnRepeated(this: object, given, options) {
    const outputs = apply.call(this, given, options);
    for (const output of [outputs].flat()) {
      if (!(output instanceof layers.SymbolicTensor) || new Set(output.inputs).size === output.inputs.length) continue;
      const own = output.inputs;
      const inputs = own.map((input, i) => (own.indexOf(input) === i ? input : furtherUse(input, i, stateful)));
      Object.assign(output, { inputs });
    }
    return outputs;
  };
}

/** The same value by another name. The graph of a model, which is saved, is made of its nodes, and does not change. */
function furtherUse(input: SymbolicTensor, index: number, sourceLayer: SymbolicTensor['sourceLayer']): SymbolicTensor {
  const properties = { name: `${input.name}#${index}`, inputs: [], sourceLayer };
  return Object.assign(Object.create(input) as SymbolicTensor, properties);
}
