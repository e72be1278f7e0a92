import {
  configOf,
  type Layer,
  type LayerConfig,
  transposed,
  type Weight,
  weightsOf,
} from '../../exchange/model-calls.ts';
import type { GraphBuilder } from '../format/graph.ts';
import type { Convert, LayerContext } from './context.ts';
import { type Recurrence, scanCell, type Unrolled } from './recurrent-scan.ts';

/** TensorFlow's order of gates, as ONNX orders them: LSTM i f c o becomes i o f c; GRU has z r h in both. */
const gateOrder = { LSTM: [0, 3, 1, 2], GRU: [0, 1, 2], SimpleRNN: [0] } as const;
const operators = { LSTM: 'LSTM', GRU: 'GRU', SimpleRNN: 'RNN' } as const;

interface CellActivation {
  name: string;
  alpha?: number;
  beta?: number;
}

/** Activations that the operators LSTM, GRU and RNN know. */
const cellActivations: Readonly<Record<string, CellActivation>> = {
  linear: { name: 'Affine', alpha: 1, beta: 0 },
  relu: { name: 'Relu' },
  tanh: { name: 'Tanh' },
  sigmoid: { name: 'Sigmoid' },
  hardSigmoid: { name: 'HardSigmoid', alpha: 0.2, beta: 0.5 },
  elu: { name: 'Elu', alpha: 1 },
  softsign: { name: 'Softsign' },
  softplus: { name: 'Softplus' },
};

/** The activations of the gates, then of the cell, then of an LSTM's output. */
function activationsOf({ kind, config }: Recurrence): string[] {
  if (kind === 'SimpleRNN') return [config.activation];
  const both = [config.recurrentActivation, config.activation];
  return kind === 'LSTM' ? [...both, config.activation] : both;
}

/** Computes the recurrence by ONNX's own operator where it can, else by a loop. */
function unroll(graph: GraphBuilder, x: string, recurrence: Recurrence): Unrolled {
  const known = activationsOf(recurrence).every((name) => cellActivations[name] !== undefined);
  return known && recurrence.mask === undefined ? byOperator(graph, x, recurrence) : scanCell(graph, x, recurrence);
}

function byOperator(graph: GraphBuilder, x: string, recurrence: Recurrence): Unrolled {
  const { kind, units, states, isBackward } = recurrence;
  const activations = activationsOf(recurrence).map((name) => cellActivations[name]);
  const alphas = activations.flatMap(({ alpha }) => alpha ?? []);
  const betas = activations.flatMap(({ beta }) => beta ?? []);
  const attributes = {
    hidden_size: units,
    direction: isBackward ? 'reverse' : 'forward',
    activations: activations.map(({ name }) => name),
    ...(alphas.length > 0 ? { activation_alpha: { floats: alphas } } : {}),
    ...(betas.length > 0 ? { activation_beta: { floats: betas } } : {}),
  };
  const direction = graph.integers([0]);
  const initial = states.map((state) => graph.op('Unsqueeze', [state, direction]));
  const steps = graph.op('Transpose', [x], { perm: [1, 0, 2] });
  const inputs = [steps, ...operatorWeights(graph, recurrence), '', ...initial];
  const [y, ...last] = graph.node(operators[kind], inputs, attributes, kind === 'LSTM' ? 3 : 2);
  const sequence = graph.op('Squeeze', [graph.op('Transpose', [y], { perm: [2, 0, 1, 3] }), graph.integers([2])]);
  return { sequence, states: last.map((state) => graph.op('Squeeze', [state, direction])) };
}

/** W `[1, G·H, F]`, R `[1, G·H, H]` and B `[1, 2·G·H]`, whose second half (the recurrent bias) is 0. */
function operatorWeights(graph: GraphBuilder, { kind, weights, units }: Recurrence): string[] {
  const order = gateOrder[kind];
  const gates = (weight: Weight): Weight => {
    const rows = transposed(weight, [1, 0]);
    const size = units * rows.shape[1];
    const data = new Float32Array(rows.data.length);
    order.forEach((from, to) => data.set(rows.data.subarray(from * size, (from + 1) * size), to * size));
    return { shape: [1, ...rows.shape], data };
  };
  const stored = ['kernel', 'recurrent_kernel'].map((name) => {
    const { shape, data } = gates(weights.get(name) as Weight);
    return graph.weight(name, shape, data);
  });
  const bias = weights.get('bias');
  if (bias === undefined) return [...stored, ''];
  const width = bias.data.length;
  const { data } = gates({ shape: [1, width], data: bias.data });
  const both = new Float32Array(2 * width);
  both.set(data);
  return [...stored, graph.weight('bias', [1, 2 * width], both)];
}

function recurrenceOf(layer: Layer, kind: Recurrence['kind'], context: LayerContext): Recurrence {
  const config = configOf(layer);
  if (config.stateful) throw context.refuse('its option stateful');
  return { kind, config, weights: weightsOf(layer), units: config.units, isBackward: config.goBackwards, states: [] };
}

const recurrent =
  (kind: Recurrence['kind']): Convert =>
  (context) => {
    const { graph, inputs, layer } = context;
    const [{ name, mask }, ...states] = inputs;
    const recurrence = recurrenceOf(layer, kind, context);
    const result = unroll(graph, name, { ...recurrence, mask, states: states.map((state) => state.name) });
    const { returnSequences, returnState, goBackwards } = recurrence.config;
    // TensorFlow.js returns the outputs in the order in which they were computed.
    const y = returnSequences ? (goBackwards ? reversed(graph, result.sequence) : result.sequence) : result.states[0];
    return returnState ? [y, ...result.states] : y;
  };

const bidirectional: Convert = (context) => {
  const { graph, inputs, layer, config } = context;
  const [{ name, mask }, ...states] = inputs;
  const { forwardLayer, backwardLayer } = layer as unknown as { forwardLayer: Layer; backwardLayer: Layer };
  if (states.length > 0 || (layer as unknown as { returnState: boolean }).returnState) {
    throw context.refuse('its states as inputs or outputs');
  }
  const [forward, backward] = [forwardLayer, backwardLayer].map((own, i) => {
    const kind = own.getClassName();
    if (kind !== 'LSTM' && kind !== 'GRU' && kind !== 'SimpleRNN') throw context.refuse(`its layer of kind ${kind}`);
    const recurrence = recurrenceOf(own, kind, context);
    const result = graph.within(i === 0 ? 'forward' : 'backward', () => unroll(graph, name, { ...recurrence, mask }));
    if (!recurrence.config.returnSequences) return result.states[0];
    // Outputs come as they were computed, and those of the second layer are then reversed.
    return recurrence.config.goBackwards === (i === 1) ? result.sequence : reversed(graph, result.sequence);
  });
  return merged(graph, [forward, backward], config.mergeMode);
};

function merged(graph: GraphBuilder, both: string[], mode: LayerConfig['mergeMode']): string | string[] {
  if (mode === null) return both;
  if (mode === 'concat') return graph.op('Concat', both, { axis: -1 });
  return graph.op(mode === 'sum' ? 'Add' : mode === 'mul' ? 'Mul' : 'Mean', both);
}

/** The steps `[B, T, H]` in the opposite order. */
function reversed(graph: GraphBuilder, x: string): string {
  const [start, end, axis, step] = [-1, -Number.MAX_SAFE_INTEGER, 1, -1].map((value) => graph.integers([value]));
  return graph.op('Slice', [x, start, end, axis, step]);
}

export const recurrentLayers: Readonly<Record<string, Convert>> = {
  LSTM: recurrent('LSTM'),
  GRU: recurrent('GRU'),
  SimpleRNN: recurrent('SimpleRNN'),
  Bidirectional: bidirectional,
};
