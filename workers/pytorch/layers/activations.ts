import type { PythonCode } from '../code/python-code.ts';
import type { ConvertToPython } from './context.ts';

/** Functions of PyTorch by the names of TensorFlow.js's activations; `{x}` is the argument. */
const activations: Readonly<Record<string, string>> = {
  relu: 'F.relu({x})',
  relu6: 'F.relu6({x})',
  elu: 'F.elu({x})',
  selu: 'F.selu({x})',
  sigmoid: 'torch.sigmoid({x})',
  hardSigmoid: 'hard_sigmoid({x})',
  softplus: 'F.softplus({x})',
  softsign: 'F.softsign({x})',
  tanh: 'torch.tanh({x})',
  softmax: 'F.softmax({x}, -1)',
  logSoftmax: 'F.log_softmax({x}, -1)',
  swish: 'F.silu({x})',
  mish: 'F.mish({x})',
  gelu: 'F.gelu({x})',
  gelu_new: "F.gelu({x}, approximate='tanh')",
};

/** The expression of an activation. @throws Error for one that PyTorch lacks */
export function activate(code: PythonCode, x: string, activation: string | undefined): string {
  if (activation === undefined || activation === 'linear') return x;
  const template = activations[activation];
  if (template === undefined) {
    throw new Error(`The activation "${activation}" cannot be exported to PyTorch. Export the format tfjs instead.`);
  }
  if (activation === 'hardSigmoid') code.library('hard_sigmoid');
  return template.replace('{x}', x);
}

/** The activation as a function of Python. */
export function activationFunction(code: PythonCode, activation: string): string {
  return `lambda x: ${activate(code, 'x', activation)}`;
}

export const activationLayers: Readonly<Record<string, ConvertToPython>> = {
  Activation: ({ code, x, config }) => activate(code, x, config.activation),
  ReLU: ({ x, config: { maxValue } }) =>
    maxValue === null || maxValue === undefined ? `F.relu(${x})` : `${x}.clamp(0, ${maxValue})`,
  LeakyReLU: ({ x, config }) => `F.leaky_relu(${x}, ${config.alpha})`,
  PReLU: (context) => {
    const alpha = context.code.parameter(context.name, context.weight('alpha'));
    return `torch.where(${context.x} >= 0, ${context.x}, ${alpha} * ${context.x})`;
  },
  ELU: ({ x, config }) => `F.elu(${x}, ${config.alpha})`,
  ThresholdedReLU: ({ x, config }) => `${x} * (${x} > ${config.theta})`,
  Softmax: ({ x, config }) => `F.softmax(${x}, ${[config.axis].flat()[0]})`,
};
