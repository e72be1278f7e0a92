import type { GraphBuilder } from '../format/graph.ts';
import type { Convert } from './context.ts';

type Apply = (graph: GraphBuilder, x: string) => string;

const one =
  (type: string, attributes = {}): Apply =>
  (graph, x) =>
    graph.op(type, [x], attributes);

/** x · Φ(x), with the normal distribution's Φ(x) = (1 + erf(x / √2)) / 2. */
const gelu: Apply = (graph, x) => {
  const erf = graph.op('Erf', [graph.op('Mul', [x, graph.scalar(Math.SQRT1_2)])]);
  const share = graph.op('Mul', [graph.op('Add', [erf, graph.scalar(1)]), graph.scalar(0.5)]);
  return graph.op('Mul', [x, share]);
};

/** 0.5 · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))). */
const approximateGelu: Apply = (graph, x) => {
  const cube = graph.op('Mul', [graph.op('Mul', [x, x]), x]);
  const inner = graph.op('Add', [x, graph.op('Mul', [cube, graph.scalar(0.044715)])]);
  const tanh = graph.op('Tanh', [graph.op('Mul', [inner, graph.scalar(Math.sqrt(2 / Math.PI))])]);
  return graph.op('Mul', [graph.op('Mul', [x, graph.scalar(0.5)]), graph.op('Add', [tanh, graph.scalar(1)])]);
};

/** The activations of TensorFlow.js by name. */
const activations: Readonly<Record<string, Apply>> = {
  linear: (_, x) => x,
  relu: one('Relu'),
  relu6: (graph, x) => graph.op('Clip', [x, graph.scalar(0), graph.scalar(6)]),
  elu: one('Elu', { alpha: { float: 1 } }),
  selu: one('Selu'),
  sigmoid: one('Sigmoid'),
  hardSigmoid: one('HardSigmoid', { alpha: { float: 0.2 }, beta: { float: 0.5 } }),
  softplus: one('Softplus'),
  softsign: one('Softsign'),
  tanh: one('Tanh'),
  softmax: one('Softmax', { axis: -1 }),
  logSoftmax: one('LogSoftmax', { axis: -1 }),
  swish: (graph, x) => graph.op('Mul', [x, graph.op('Sigmoid', [x])]),
  mish: (graph, x) => graph.op('Mul', [x, graph.op('Tanh', [graph.op('Softplus', [x])])]),
  gelu,
  gelu_new: approximateGelu,
};

/** Applies an activation. @throws Error for one that ONNX cannot have */
export function activate(graph: GraphBuilder, x: string, activation: string | undefined): string {
  const apply = activations[activation ?? 'linear'];
  if (apply !== undefined) return apply(graph, x);
  throw new Error(`The activation "${activation}" cannot be exported to ONNX. Export the format tfjs instead.`);
}

const activation: Convert = ({ graph, x, config }) => activate(graph, x, config.activation);

const relu: Convert = ({ graph, x, config: { maxValue } }) =>
  maxValue === null || maxValue === undefined
    ? graph.op('Relu', [x])
    : graph.op('Clip', [x, graph.scalar(0), graph.scalar(maxValue)]);

const softmax: Convert = ({ graph, x, config: { axis } }) => graph.op('Softmax', [x], { axis: [axis].flat()[0] });

export const activationLayers: Readonly<Record<string, Convert>> = {
  Activation: activation,
  ReLU: relu,
  LeakyReLU: ({ graph, x, config }) => graph.op('LeakyRelu', [x], { alpha: { float: config.alpha } }),
  PReLU: (context) => context.graph.op('PRelu', [context.x, context.stored('alpha')]),
  ELU: ({ graph, x, config }) => graph.op('Elu', [x], { alpha: { float: config.alpha } }),
  ThresholdedReLU: ({ graph, x, config }) => graph.op('ThresholdedRelu', [x], { alpha: { float: config.theta } }),
  Softmax: softmax,
};
