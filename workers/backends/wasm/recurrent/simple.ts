import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import type { WasmRuntime } from '../kernel.ts';
import { sequenceOf, stateBefore, sumsOfInputs, withInitial } from './sequence.ts';
import { statesBefore, wayBack } from './state-gradients.ts';

/** h = act(x W + h' U + b) over whole sequences. Returns h `[B, T, U]` in the order of steps, and the sums in the order of time. */
export function simple(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
  const { memory, kernels, gemm } = runtime;
  const sequence = sequenceOf(runtime, inputs, attributes);
  const { batch, length, units, recurrent, mask, timeOf, activation } = sequence;
  const sums = sumsOfInputs(runtime, sequence, inputs);
  const hidden = memory.output([batch, length, units]);
  const [toSums, toH, row] = [memory.address(sums), memory.address(hidden), length * units];
  withInitial(runtime, sequence, inputs.initialH, (initial) => {
    for (let step = 0; step < length; step++) {
      const time = timeOf(step);
      const [sum, h] = [toSums + 4 * time * units, toH + 4 * step * units];
      const { address, row: beforeRow } = stateBefore(sequence, toH, initial, step);
      const ofMask = mask === 0 ? 0 : mask + 4 * time;
      gemm(false, false, batch, units, units, address, beforeRow, recurrent, units, 1, sum, row);
      kernels.simpleStep(sum, address, beforeRow, h, row, ofMask, length, batch, units, activation);
    }
  });
  return [hidden, sums];
}

/** Gradients of {@link simple}, as of `gruGradient`: of the sums `[B, T, U]`, of the weights of the state `[U, U]`, and of the initial h `[B, U]`. */
export function simpleGradient(
  runtime: WasmRuntime,
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo[] {
  const { memory, kernels, gemm } = runtime;
  const sequence = sequenceOf(runtime, inputs, attributes);
  const { batch, length, units, recurrent, mask, timeOf, activation } = sequence;
  const { hidden, dGates, carry, slopeOf } = wayBack(runtime, sequence, inputs);
  const dRecurrent = memory.output([units, units]);
  const [toH, toSums, row] = [memory.address(carry), memory.address(dGates), length * units];
  for (let step = length - 1; step >= 0; step--) {
    const time = timeOf(step);
    const [h, dSum] = [hidden + 4 * step * units, toSums + 4 * time * units];
    const slope = slopeOf(step);
    const ofMask = mask === 0 ? 0 : mask + 4 * time;
    kernels.simpleStepGradient(h, dSum, row, slope.address, slope.row, toH, ofMask, length, batch, units, activation);
    gemm(false, true, batch, units, units, dSum, row, recurrent, units, 1, toH, units);
  }
  withInitial(runtime, sequence, inputs.initialH, (initial) => {
    const before = statesBefore(runtime, sequence, hidden, initial);
    const rows = batch * length;
    gemm(
      true,
      false,
      units,
      units,
      rows,
      memory.address(before),
      units,
      toSums,
      units,
      0,
      memory.address(dRecurrent),
      units,
    );
    memory.dispose(before);
  });
  return [dGates, dRecurrent, carry];
}
