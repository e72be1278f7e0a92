import type { LayersModel, SymbolicTensor } from '../tensorflow/tf.ts';

/** Layers that change no value, or only drop or move some: what comes before them decides. */
const passingLayers = new Set([
  'Dropout',
  'Flatten',
  'Reshape',
  'Permute',
  'GaussianNoise',
  'GaussianDropout',
  'InputLayer',
]);

/** They squeeze outputs into (0, 1), or make them sum to 1: no logits. */
const probabilityActivations = new Set(['softmax', 'sigmoid', 'hardSigmoid']);
/** They give values of 0 or less, which no variance is. */
const nonPositiveActivations = new Set(['linear', 'tanh', 'elu', 'selu', 'softsign', 'relu', 'relu6', 'hardSigmoid']);

/** @param applied what the task's loss and predictions apply to the outputs @throws when a classifier ends in probabilities */
export function requireLogits(model: LayersModel, applied: 'softmax' | 'sigmoid'): void {
  const activation = outputActivation(model, 0);
  if (activation === null || !probabilityActivations.has(activation)) return;
  throw new Error(
    `The model's output ends in ${activation}, but the task needs logits: its loss and its predictions apply ${applied} themselves, and ` +
      'twice would flatten all probabilities. Leave the activation of the last layer out.',
  );
}

/** @throws when the second output, the variance, ends in what can be 0 or negative */
export function requirePositiveVariance(model: LayersModel): void {
  const activation = outputActivation(model, 1);
  if (activation === null || !nonPositiveActivations.has(activation)) return;
  throw new Error(
    `The model's second output, the variance, ends in the activation ${activation}, which can be 0 or negative: a variance is positive. ` +
      "Give its last layer activation: 'softplus'.",
  );
}

/**
 * The activation that a model's output ends in, by TensorFlow.js's name (`softmax`, `linear`), also where it is a layer, or inside a
 * nested model; null where the last layer is of another kind, whose values cannot be told.
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
  if (passingLayers.has(kind)) return tensor.inputs.length === 1 ? activationOf(tensor.inputs[0]) : null;
  const { activation } = layer.getConfig();
  return typeof activation === 'string' ? activation : null;
}
