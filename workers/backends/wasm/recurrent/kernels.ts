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
 * with the state, and one pass over its gates.
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
  const all = { from: 0, count: sequence.units };
  sequence.runWith({ gates, hidden }, (address, products) => {
    for (let step = 0; step < sequence.length; step++) {
      products.addState(step, all);
      runtime.recurrent.simpleStep(address, step);
    }
  });
  return [hidden, gates];
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
  sequence.runWith({ gates, hidden, dGates, dOutput, carryH }, (address, products) => {
    for (let step = sequence.length - 1; step >= 0; step--) {
      recurrent.simpleStepGradient(address, step);
      products.pullState(step, all, carryH);
    }
    products.weightGradient(dRecurrent, all);
  });
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
  const all = { from: 0, count: sequence.width };
  sequence.runWith({ gates, hidden, cells }, (address, products) => {
    for (let step = 0; step < sequence.length; step++) {
      products.addState(step, all);
      runtime.recurrent.lstmStep(address, step);
    }
  });
  return [hidden, gates, cells];
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
  sequence.runWith({ gates, hidden, cells, dGates, dOutput, carryH, carryC }, (address, products) => {
    for (let step = sequence.length - 1; step >= 0; step--) {
      recurrent.lstmStepGradient(address, step);
      products.pullState(step, all, carryH);
    }
    products.weightGradient(dRecurrent, all);
  });
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
  const { ofGates, ofCandidate } = columnsOf(sequence);
  sequence.runWith({ gates, hidden, resets }, (address, products) => {
    for (let step = 0; step < sequence.length; step++) {
      products.addState(step, ofGates);
      recurrent.gruGates(address, step);
      products.addReset(step, ofCandidate);
      recurrent.gruStep(address, step);
    }
  });
  return [hidden, gates, resets];
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
  sequence.runWith({ gates, hidden, resets, dGates, dOutput, carryH }, (address, products) => {
    for (let step = sequence.length - 1; step >= 0; step--) {
      recurrent.gruStepGradient(address, step);
      products.pullReset(step, ofCandidate);
      recurrent.gruGatesGradient(address, step);
      products.pullState(step, ofGates, carryH);
    }
    products.weightGradient(dRecurrent, ofGates);
    products.resetWeightGradient(dRecurrent, ofCandidate);
  });
  return [dGates, dRecurrent, carryH];
}

function columnsOf({ units }: Sequence) {
  return { ofGates: { from: 0, count: 2 * units }, ofCandidate: { from: 2 * units, count: units } };
}
