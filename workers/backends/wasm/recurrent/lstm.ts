import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { required, type WasmRuntime } from '../kernel.ts';
import { Sequence } from './sequence.ts';

/**
 * A long short-term memory (Hochreiter and Schmidhuber, 1997) over whole sequences, with gates in the order i, f, g, o. Returns h `[B, T, U]` in the
 * order of steps, the gates' activations `[B, T, 4U]` in the order of time, and c `[B, T, U]` in the order of steps.
 */
export function lstm(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
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
 * Gradients of {@link lstm} from `dy`, that of h (`[B, T, U]`, or `[B, U]` of the last step alone), and an optional `dCell` `[B, U]`, that of the last c. Returns
 * the gradients of the gates' sums `[B, T, 4U]` in the order of time, of the weights of the state `[U, 4U]`, and of the initial h and c `[B, U]`.
 */
export function lstmGradient(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
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
