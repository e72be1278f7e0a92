import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { required, type WasmRuntime } from '../kernel.ts';
import { Sequence } from './sequence.ts';

/** h = act(x W + h' U + b) over whole sequences. Returns h `[B, T, U]` in the order of steps, and the sums in the order of time. */
export function simple(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
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

/** Gradients of {@link simple}, as of `gruGradient`: of the sums `[B, T, U]`, of the weights of the state `[U, U]`, and of the initial h `[B, U]`. */
export function simpleGradient(
  runtime: WasmRuntime,
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo[] {
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
