import type { LayersModel, SymbolicTensor } from '../tensorflow/tf.ts';

/** Layers that only drop or move values: the layer before them decides. */
const passingLayers = new Set([
  'Dropout',
  'SampledDropout',
  'Flatten',
  'Reshape',
  'Permute',
  'GaussianNoise',
  'GaussianDropout',
  'InputLayer',
]);

/** Activations that map outputs into (0, 1), or normalise their sum to 1: their outputs are not logits. */
const probabilityActivations = new Set(['softmax', 'sigmoid', 'hardSigmoid']);
/** Activations whose values may be 0 or negative, which a variance must not be. */
const nonPositiveActivations = new Set(['linear', 'tanh', 'elu', 'selu', 'softsign', 'relu', 'relu6', 'hardSigmoid']);

/**
 * @param applied the function that loss and predictions apply to the outputs
 * @throws when a classifier ends in probabilities
 */
export function requireLogits(model: LayersModel, applied: 'softmax' | 'sigmoid'): void {
  const activation = outputActivation(model, 0);
  if (activation === null || !probabilityActivations.has(activation)) return;
  throw new Error(
    `The model's output ends in ${activation}, but the task needs logits: its loss and its predictions apply ` +
      `${applied}, and applying it twice would flatten all probabilities. Remove the activation of the last layer.`,
  );
}

/** @throws when the second output, the variance, can be 0 or negative */
export function requirePositiveVariance(model: LayersModel): void {
  const activation = outputActivation(model, 1);
  if (activation === null || !nonPositiveActivations.has(activation)) return;
  throw new Error(
    `The model's second output, the variance, ends in the activation ${activation}, which can be 0 or negative: a ` +
      "variance is positive. Give its last layer activation: 'softplus'.",
  );
}

/**
 * The last activation of a model's output, by its name in TensorFlow.js (`softmax`, `linear`), also where it is a layer
 * or part of a nested model; null where the last layer is of another kind, whose range is unknown.
 */
function outputActivation(model: LayersModel, output: number): string | null {
  return activationOf(model.outputs[output]);
}

function activationOf(tensor: SymbolicTensor): string | null {
  const layer = tensor.sourceLayer;
  const kind = layer.getClassName();
  if ('outputs' in layer && Array.isArray(layer.outputs)) {
    const inner = layer.outputs as SymbolicTensor[];
    return activationOf(inner[tensor.outputTensorIndex ?? 0] ?? inner[0]);
  }
  if (kind === 'Softmax') return 'softmax';
  if (kind === 'MeanOfMembers') return activationOf(tensor.inputs[tensor.outputTensorIndex ?? 0]);
  if (passingLayers.has(kind)) return tensor.inputs.length === 1 ? activationOf(tensor.inputs[0]) : null;
  const { activation } = layer.getConfig();
  if (kind === 'Activation' && activation === 'linear') return activationOf(tensor.inputs[0]);
  return typeof activation === 'string' ? activation : null;
}
