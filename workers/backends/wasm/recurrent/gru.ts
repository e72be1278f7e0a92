import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { required, type WasmRuntime } from '../kernel.ts';
import { Sequence } from './sequence.ts';

/**
 * A gated recurrent unit (Cho et al., 2014) over whole sequences: gates z, r and the candidate n, with the reset gate before the product. Returns h
 * `[B, T, U]` in the order of steps; the gates' activations `[B, T, 3U]` and r · h' `[B, T, U]` in the order of time.
 */
export function gru(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
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
 * Gradients of {@link gru} from `dy`, that of h (`[B, T, U]`, or `[B, U]` of the last step alone). Returns the gradients of the gates' sums `[B, T, 3U]` in the
 * order of time, of the weights of the state `[U, 3U]`, and of the initial h `[B, U]`.
 */
export function gruGradient(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
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
