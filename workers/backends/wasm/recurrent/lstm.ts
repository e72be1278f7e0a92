import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { required, type WasmRuntime } from '../kernel.ts';
import { sequenceOf, stateBefore, sumsOfInputs, withInitial, zeros } from './sequence.ts';
import { statesBefore, wayBack } from './state-gradients.ts';

/**
 * A long short-term memory (Hochreiter and Schmidhuber, 1997) over whole sequences, with gates in the order i, f, g, o. Returns h `[B, T, U]` in the
 * order of steps, the gates' activations `[B, T, 4U]` in the order of time, and c `[B, T, U]` in the order of steps.
 */
export function lstm(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
  const { memory, kernels, gemm } = runtime;
  const sequence = sequenceOf(runtime, inputs, attributes);
  const { batch, length, units, width, recurrent, mask, timeOf, activation, gateActivation } = sequence;
  const gates = sumsOfInputs(runtime, sequence, inputs);
  const [hidden, cells] = [memory.output([batch, length, units]), memory.output([batch, length, units])];
  const [toGates, toH, toC] = [gates, hidden, cells].map((tensor) => memory.address(tensor));
  const [gatesRow, row] = [length * width, length * units];
  withInitial(runtime, sequence, inputs.initialH, (initialH) =>
    withInitial(runtime, sequence, inputs.initialC, (initialC) => {
      for (let step = 0; step < length; step++) {
        const time = timeOf(step);
        const [sums, h, c] = [toGates + 4 * time * width, toH + 4 * step * units, toC + 4 * step * units];
        const before = stateBefore(sequence, toH, initialH, step);
        const beforeC = stateBefore(sequence, toC, initialC, step).address;
        const ofMask = mask === 0 ? 0 : mask + 4 * time;
        gemm(false, false, batch, width, units, before.address, before.row, recurrent, width, 1, sums, gatesRow);
        kernels.lstmStep(
          sums,
          gatesRow,
          before.address,
          beforeC,
          before.row,
          h,
          c,
          row,
          ofMask,
          length,
          batch,
          units,
          activation,
          gateActivation,
        );
      }
    }),
  );
  return [hidden, gates, cells];
}

/**
 * Gradients of {@link lstm} from `dy`, that of h (`[B, T, U]`, or `[B, U]` of the last step alone), and an optional `dCell` `[B, U]`, that of the last c. Returns
 * the gradients of the gates' sums `[B, T, 4U]` in the order of time, of the weights of the state `[U, 4U]`, and of the initial h and c `[B, U]`.
 */
export function lstmGradient(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
  const { memory, kernels, gemm } = runtime;
  const sequence = sequenceOf(runtime, inputs, attributes);
  const { batch, length, units, width, recurrent, mask, timeOf, activation, gateActivation } = sequence;
  const { hidden, gates, dGates, carry, slopeOf } = wayBack(runtime, sequence, inputs);
  const carryC = zeros(runtime, [batch, units]);
  const dRecurrent = memory.output([units, width]);
  const cells = memory.address(required(inputs, 'cells'));
  const [toH, toC, toGates] = [carry, carryC, dGates].map((tensor) => memory.address(tensor));
  if (inputs.dCell !== undefined) {
    const size = batch * units;
    memory.floats(toC, size).set(memory.floats(memory.address(inputs.dCell), size));
  }
  const [gatesRow, row] = [length * width, length * units];
  withInitial(runtime, sequence, inputs.initialC, (initialC) => {
    for (let step = length - 1; step >= 0; step--) {
      const time = timeOf(step);
      const [activated, sums, c] = [gates + 4 * time * width, toGates + 4 * time * width, cells + 4 * step * units];
      const before = stateBefore(sequence, cells, initialC, step);
      const slope = slopeOf(step);
      const ofMask = mask === 0 ? 0 : mask + 4 * time;
      kernels.lstmStepGradient(
        activated,
        sums,
        gatesRow,
        before.address,
        before.row,
        c,
        row,
        slope.address,
        slope.row,
        toH,
        toC,
        ofMask,
        length,
        batch,
        units,
        activation,
        gateActivation,
      );
      gemm(false, true, batch, units, width, sums, gatesRow, recurrent, width, 1, toH, units);
    }
  });
  withInitial(runtime, sequence, inputs.initialH, (initialH) => {
    const before = statesBefore(runtime, sequence, hidden, initialH);
    const rows = batch * length;
    gemm(
      true,
      false,
      units,
      width,
      rows,
      memory.address(before),
      units,
      toGates,
      width,
      0,
      memory.address(dRecurrent),
      width,
    );
    memory.dispose(before);
  });
  return [dGates, dRecurrent, carry, carryC];
}
