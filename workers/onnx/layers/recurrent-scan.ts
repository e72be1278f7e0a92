import type { LayerConfig, Weight } from '../../exchange/model-calls.ts';
import { GraphBuilder, valueInfo } from '../format/graph.ts';
import { activate } from './activations.ts';

/**
 * A recurrence as a loop (the operator Scan), for what the operators LSTM, GRU and RNN lack: masks that are not only at
 * the end, and further activations. A step that is masked keeps the states, and repeats the output.
 */
export function scanCell(graph: GraphBuilder, x: string, recurrence: Recurrence): Unrolled {
  const { kind, weights, units, isBackward, mask } = recurrence;
  const projected = projectInputs(graph, x, weights);
  const steps = graph.op('Transpose', [projected], { perm: [1, 0, 2] });
  const masks = mask === undefined ? [] : [stepMasks(graph, mask)];
  const count = kind === 'LSTM' ? 2 : 1;
  const initial = recurrence.states.length > 0 ? recurrence.states : zeroStates(graph, x, units, count);
  const stored = weights.get('recurrent_kernel') as Weight;
  const kernel = graph.weight('recurrent_kernel', stored.shape, stored.data);
  const direction = [isBackward ? 1 : 0];
  const attributes = {
    body: { graph: bodyOf(graph, recurrence, kernel) },
    num_scan_inputs: 1 + masks.length,
    scan_input_directions: [...direction, ...masks.flatMap(() => direction)],
    // Outputs of a backward loop are put in front, so that they are in the order of the steps.
    scan_output_directions: direction,
  };
  const outputs = graph.node('Scan', [...initial, steps, ...masks], attributes, count + 1);
  const sequence = graph.op('Transpose', [outputs[count]], { perm: [1, 0, 2] });
  return { sequence, states: outputs.slice(0, count) };
}

/** x·W + b for all steps at once, `[B, T, G·H]`. */
function projectInputs(graph: GraphBuilder, x: string, weights: Recurrence['weights']): string {
  const { shape, data } = weights.get('kernel') as Weight;
  const product = graph.op('MatMul', [x, graph.weight('kernel', shape, data)]);
  const bias = weights.get('bias');
  return bias === undefined ? product : graph.op('Add', [product, graph.weight('bias', bias.shape, bias.data)]);
}

/** The mask step by step, `[T, B, 1]`. */
function stepMasks(graph: GraphBuilder, mask: string): string {
  return graph.op('Unsqueeze', [graph.op('Transpose', [mask], { perm: [1, 0] }), graph.integers([-1])]);
}

function zeroStates(graph: GraphBuilder, x: string, units: number, count: number): string[] {
  const batch = graph.op('Shape', [x], { start: 0, end: 1 });
  const shape = graph.op('Concat', [batch, graph.integers([units])], { axis: 0 });
  // The value of ConstantOfShape is 0, float32, unless another is given.
  return Array.from({ length: count }, () => graph.op('ConstantOfShape', [shape]));
}

/** One step: the states, a step's projected inputs `[B, G·H]` and, if any, its mask `[B, 1]`. */
function bodyOf(outer: GraphBuilder, recurrence: Recurrence, kernel: string) {
  const body = new GraphBuilder(outer);
  const names = recurrence.kind === 'LSTM' ? ['h', 'c'] : ['h'];
  const states = names.map((name) => body.unique(`${name}_before`));
  const x = body.unique('step');
  const mask = recurrence.mask === undefined ? null : body.unique('step_mask');
  const next = cells[recurrence.kind](body, { x, states, kernel, recurrence });
  const kept = next.map((value, i) => (mask === null ? value : keepMasked(body, mask, value, states[i])));
  const outputs = [...kept, kept[0]].map((value) => body.op('Identity', [value]));
  const { units } = recurrence;
  const inputs = [
    ...states.map((state) => valueInfo(state, 'float', ['N', units])),
    valueInfo(x, 'float', ['N', units * gateCounts[recurrence.kind]]),
    ...(mask === null ? [] : [valueInfo(mask, 'float', ['N', 1])]),
  ];
  const results = outputs.map((output) => valueInfo(output, 'float', ['N', units]));
  return body.finishPart(body.unique('body'), inputs, results);
}

const gateCounts = { LSTM: 4, GRU: 3, SimpleRNN: 1 } as const;

/** m · new + (1 − m) · old. */
function keepMasked(body: GraphBuilder, mask: string, next: string, before: string): string {
  const rest = body.op('Sub', [body.scalar(1), mask]);
  return body.op('Add', [body.op('Mul', [next, mask]), body.op('Mul', [before, rest])]);
}

interface Step {
  x: string;
  states: readonly string[];
  kernel: string;
  recurrence: Recurrence;
}

/** The next states. */
type Cell = (body: GraphBuilder, step: Step) => string[];

const simpleCell: Cell = (body, { x, states: [h], kernel, recurrence }) => [
  activate(body, body.op('Add', [x, body.op('MatMul', [h, kernel])]), recurrence.config.activation),
];

/** c' = σ(f) · c + σ(i) · a(g); h' = σ(o) · a(c'), gates in the order i f g o. */
const lstmCell: Cell = (body, { x, states: [h, c], kernel, recurrence: { config } }) => {
  const gates = body.op('Add', [x, body.op('MatMul', [h, kernel])]);
  const [i, f, g, o] = body.node('Split', [gates], { axis: -1, num_outputs: 4 }, 4);
  const gate = (value: string): string => activate(body, value, config.recurrentActivation);
  const added = body.op('Mul', [gate(i), activate(body, g, config.activation)]);
  const cell = body.op('Add', [body.op('Mul', [gate(f), c]), added]);
  return [body.op('Mul', [gate(o), activate(body, cell, config.activation)]), cell];
};

/** h' = z · h + (1 − z) · a(x_h + (r · h)·R_h), gates in the order z r h. */
const gruCell: Cell = (body, { x, states: [h], kernel, recurrence: { config } }) => {
  const [xz, xr, xh] = body.node('Split', [x], { axis: -1, num_outputs: 3 }, 3);
  const [kz, kr, kh] = body.node('Split', [kernel], { axis: -1, num_outputs: 3 }, 3);
  const gate = (own: string, weights: string): string =>
    activate(body, body.op('Add', [own, body.op('MatMul', [h, weights])]), config.recurrentActivation);
  const [z, r] = [gate(xz, kz), gate(xr, kr)];
  const inner = body.op('Add', [xh, body.op('MatMul', [body.op('Mul', [r, h]), kh])]);
  const proposed = body.op('Mul', [body.op('Sub', [body.scalar(1), z]), activate(body, inner, config.activation)]);
  return [body.op('Add', [body.op('Mul', [z, h]), proposed])];
};

const cells: Readonly<Record<Recurrence['kind'], Cell>> = { SimpleRNN: simpleCell, LSTM: lstmCell, GRU: gruCell };

/** A recurrent layer over sequences `[B, T, F]`. */
export interface Recurrence {
  kind: 'LSTM' | 'GRU' | 'SimpleRNN';
  config: LayerConfig;
  weights: ReadonlyMap<string, Weight>;
  units: number;
  /** Whether the scan goes from the last step to the first. */
  isBackward: boolean;
  /** 1 for each step that counts: float32 `[B, T]`. */
  mask?: string;
  /** Initial states `[B, H]`; none: zeros. */
  states: readonly string[];
}

/** Results of a recurrence: outputs in the order of the steps, `[B, T, H]`, and the last states, `[B, H]`. */
export interface Unrolled {
  sequence: string;
  states: string[];
}
