import { type Kernel, required, type WasmRuntime } from '../kernel.ts';
import { type CellKind, Sequence } from './sequence.ts';
import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';

/** Names of the kernels of a kind of cell. */
export const kernelNames: Readonly<Record<CellKind, { forward: string; backward: string }>> = {
  gru: { forward: 'GruSequence', backward: 'GruSequenceGradient' },
  lstm: { forward: 'LstmSequence', backward: 'LstmSequenceGradient' },
  simpleRNN: { forward: 'SimpleSequence', backward: 'SimpleSequenceGradient' },
};

/**
 * Recurrent layers over whole sequences. All products with the inputs are one matrix product; each step then has one
 * with the state, and one pass over its gates. An input `dropout` `[B, U]` has the factors of dropout on h', which are
 * the same in all steps; the forward kernels then also return h' times these factors, `[B, T, U]` in order of time.
 */
export const recurrentKernels: Record<string, Kernel> = {
  GruSequence: gru,
  GruSequenceGradient: gruGradient,
  LstmSequence: lstm,
  LstmSequenceGradient: lstmGradient,
  SimpleSequence: simple,
  SimpleSequenceGradient: simpleGradient,
};

/**
 * h = act(x W + h' U + b) over whole sequences. Returns h `[B, T, U]` in the order of steps, and the sums in the order
 * of time.
 */
function simple(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
  const sequence = new Sequence(runtime, inputs, attributes);
  const [gates, hidden] = [sequence.sumsOfInputs(), sequence.states()];
  const dropped = sequence.droppedStates();
  const all = { from: 0, count: sequence.units };
  sequence.runForward({ gates, hidden, ...dropped }, (address, step, products) => {
    products.addState(step, all);
    runtime.recurrent.simpleStep(address, step);
  });
  return [hidden, gates, ...Object.values(dropped)];
}

/**
 * Gradients of {@link simple}, as of `gruGradient`: of the sums `[B, T, U]`, of the weights of the state `[U, U]`, and
 * of the initial h `[B, U]`.
 */
function simpleGradient(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
  const { memory, recurrent } = runtime;
  const sequence = new Sequence(runtime, inputs, attributes);
  const [gates, hidden, dOutput] = ['gates', 'hidden', 'dy'].map((name) => required(inputs, name));
  const [dGates, dRecurrent] = [memory.output(gates.shape), memory.output([sequence.units, sequence.units])];
  const carryH = sequence.zeros();
  const all = { from: 0, count: sequence.units };
  sequence.runBackward(
    { gates, hidden, dropped: inputs.dropped, dGates, dOutput, carryH },
    (address, step, products) => {
      recurrent.simpleStepGradient(address, step);
      products.pullState(step, all, carryH);
    },
    (products) => products.weightGradient(dRecurrent, all),
  );
  return [dGates, dRecurrent, carryH];
}

/**
 * A long short-term memory (Hochreiter and Schmidhuber, 1997) over whole sequences, with gates in the order i, f, g, o.
 * Returns h `[B, T, U]` in the order of steps, the gates' activations `[B, T, 4U]` in the order of time, and c
 * `[B, T, U]` in the order of steps.
 */
function lstm(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
  const sequence = new Sequence(runtime, inputs, attributes);
  const [gates, hidden, cells] = [sequence.sumsOfInputs(), sequence.states(), sequence.states()];
  const dropped = sequence.droppedStates();
  const all = { from: 0, count: sequence.width };
  sequence.runForward({ gates, hidden, cells, ...dropped }, (address, step, products) => {
    products.addState(step, all);
    runtime.recurrent.lstmStep(address, step);
  });
  return [hidden, gates, cells, ...Object.values(dropped)];
}

/**
 * Gradients of {@link lstm} from `dy`, that of h (`[B, T, U]`, or `[B, U]` of the last step alone), and an optional
 * `dCell` `[B, U]`, that of the last c. Returns the gradients of the gates' sums `[B, T, 4U]` in the order of time, of
 * the weights of the state `[U, 4U]`, and of the initial h and c `[B, U]`.
 */
function lstmGradient(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
  const { memory, recurrent } = runtime;
  const sequence = new Sequence(runtime, inputs, attributes);
  const [gates, hidden, cells, dOutput] = ['gates', 'hidden', 'cells', 'dy'].map((name) => required(inputs, name));
  const [dGates, dRecurrent] = [memory.output(gates.shape), memory.output([sequence.units, sequence.width])];
  const [carryH, carryC] = [sequence.zeros(), sequence.zeros()];
  if (inputs.dCell !== undefined) {
    const size = sequence.batch * sequence.units;
    memory.floats(memory.address(carryC), size).set(memory.floats(memory.address(inputs.dCell), size));
  }
  const all = { from: 0, count: sequence.width };
  sequence.runBackward(
    { gates, hidden, cells, dropped: inputs.dropped, dGates, dOutput, carryH, carryC },
    (address, step, products) => {
      recurrent.lstmStepGradient(address, step);
      products.pullState(step, all, carryH);
    },
    (products) => products.weightGradient(dRecurrent, all),
  );
  return [dGates, dRecurrent, carryH, carryC];
}

/**
 * A gated recurrent unit (Cho et al., 2014) over whole sequences: gates z, r and the candidate n, with the reset gate
 * before the product. Returns h `[B, T, U]` in the order of steps; the gates' activations `[B, T, 3U]` and r · h'
 * `[B, T, U]` in the order of time.
 */
function gru(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
  const { recurrent } = runtime;
  const sequence = new Sequence(runtime, inputs, attributes);
  const [gates, hidden, resets] = [sequence.sumsOfInputs(), sequence.states(), sequence.states()];
  const dropped = sequence.droppedStates();
  const { ofGates, ofCandidate } = columnsOf(sequence);
  sequence.runForward({ gates, hidden, resets, ...dropped }, (address, step, products) => {
    products.addState(step, ofGates);
    recurrent.gruGates(address, step);
    products.addReset(step, ofCandidate);
    recurrent.gruStep(address, step);
  });
  return [hidden, gates, resets, ...Object.values(dropped)];
}

/**
 * Gradients of {@link gru} from `dy`, that of h (`[B, T, U]`, or `[B, U]` of the last step alone). Returns the
 * gradients of the gates' sums `[B, T, 3U]` in the order of time, of the weights of the state `[U, 3U]`, and of the
 * initial h `[B, U]`.
 */
function gruGradient(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
  const { memory, recurrent } = runtime;
  const sequence = new Sequence(runtime, inputs, attributes);
  const [gates, hidden, resets, dOutput] = ['gates', 'hidden', 'resets', 'dy'].map((name) => required(inputs, name));
  const [dGates, dRecurrent] = [memory.output(gates.shape), memory.output([sequence.units, sequence.width])];
  const carryH = sequence.zeros();
  const { ofGates, ofCandidate } = columnsOf(sequence);
  sequence.runBackward(
    { gates, hidden, resets, dropped: inputs.dropped, dGates, dOutput, carryH },
    (address, step, products) => {
      recurrent.gruStepGradient(address, step);
      products.pullReset(step, ofCandidate);
      recurrent.gruGatesGradient(address, step);
      products.pullState(step, ofGates, carryH);
    },
    (products) => {
      products.weightGradient(dRecurrent, ofGates);
      products.resetWeightGradient(dRecurrent, ofCandidate);
    },
  );
  return [dGates, dRecurrent, carryH];
}

function columnsOf({ units }: Sequence) {
  return { ofGates: { from: 0, count: 2 * units }, ofCandidate: { from: 2 * units, count: units } };
}
