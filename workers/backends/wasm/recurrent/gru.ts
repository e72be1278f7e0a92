import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { required, type WasmRuntime } from '../kernel.ts';
import { sequenceOf, stateBefore, sumsOfInputs, withInitial } from './sequence.ts';
import { statesBefore, wayBack } from './state-gradients.ts';

/**
 * A gated recurrent unit (Cho et al., 2014) over whole sequences: gates z, r and the candidate n, with the reset gate before the product. Returns h
 * `[B, T, U]` in the order of steps; the gates' activations `[B, T, 3U]` and r · h' `[B, T, U]` in the order of time.
 */
export function gru(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
  const { memory, kernels, gemm } = runtime;
  const sequence = sequenceOf(runtime, inputs, attributes);
  const { batch, length, units, width, recurrent, mask, timeOf, activation, gateActivation } = sequence;
  const gates = sumsOfInputs(runtime, sequence, inputs);
  const [hidden, resets] = [memory.output([batch, length, units]), memory.output([batch, length, units])];
  const [toGates, toH, toResets] = [gates, hidden, resets].map((tensor) => memory.address(tensor));
  const [gatesRow, row, ofCandidate] = [length * width, length * units, 8 * units];
  withInitial(runtime, sequence, inputs.initialH, (initial) => {
    for (let step = 0; step < length; step++) {
      const time = timeOf(step);
      const [sums, h, reset] = [toGates + 4 * time * width, toH + 4 * step * units, toResets + 4 * time * units];
      const { address, row: beforeRow } = stateBefore(sequence, toH, initial, step);
      const ofMask = mask === 0 ? 0 : mask + 4 * time;
      gemm(false, false, batch, 2 * units, units, address, beforeRow, recurrent, width, 1, sums, gatesRow);
      kernels.gruGates(sums, gatesRow, address, beforeRow, reset, row, batch, units, gateActivation);
      const [weights, candidate] = [recurrent + ofCandidate, sums + ofCandidate];
      gemm(false, false, batch, units, units, reset, row, weights, width, 1, candidate, gatesRow);
      kernels.gruStep(sums, gatesRow, address, beforeRow, h, row, ofMask, length, batch, units, activation);
    }
  });
  return [hidden, gates, resets];
}

/**
 * Gradients of {@link gru} from `dy`, that of h (`[B, T, U]`, or `[B, U]` of the last step alone). Returns the gradients of the gates' sums `[B, T, 3U]` in the
 * order of time, of the weights of the state `[U, 3U]`, and of the initial h `[B, U]`.
 */
export function gruGradient(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo[] {
  const { memory, kernels, gemm } = runtime;
  const sequence = sequenceOf(runtime, inputs, attributes);
  const { batch, length, units, width, recurrent, mask, timeOf, activation, gateActivation } = sequence;
  const { hidden, gates, dGates, carry, slopeOf } = wayBack(runtime, sequence, inputs);
  const dRecurrent = memory.output([units, width]);
  const [toH, toGates, toRecurrent] = [carry, dGates, dRecurrent].map((tensor) => memory.address(tensor));
  const [gatesRow, ofCandidate, rows] = [length * width, 8 * units, batch * length];
  const dReset = memory.allocate(4 * batch * units);
  withInitial(runtime, sequence, inputs.initialH, (initial) => {
    for (let step = length - 1; step >= 0; step--) {
      const time = timeOf(step);
      const [activated, sums] = [gates + 4 * time * width, toGates + 4 * time * width];
      const { address, row } = stateBefore(sequence, hidden, initial, step);
      const slope = slopeOf(step);
      const ofMask = mask === 0 ? 0 : mask + 4 * time;
      kernels.gruStepGradient(
        activated,
        sums,
        gatesRow,
        address,
        row,
        slope.address,
        slope.row,
        toH,
        ofMask,
        length,
        batch,
        units,
        activation,
        gateActivation,
      );
      gemm(
        false,
        true,
        batch,
        units,
        units,
        sums + ofCandidate,
        gatesRow,
        recurrent + ofCandidate,
        width,
        0,
        dReset,
        units,
      );
      kernels.gruGatesGradient(
        activated,
        sums,
        gatesRow,
        address,
        row,
        dReset,
        toH,
        ofMask,
        length,
        batch,
        units,
        gateActivation,
      );
      gemm(false, true, batch, units, 2 * units, sums, gatesRow, recurrent, width, 1, toH, units);
    }
    const before = statesBefore(runtime, sequence, hidden, initial);
    gemm(true, false, units, 2 * units, rows, memory.address(before), units, toGates, width, 0, toRecurrent, width);
    memory.dispose(before);
  });
  memory.free(dReset);
  const resets = memory.address(required(inputs, 'resets'));
  gemm(
    true,
    false,
    units,
    units,
    rows,
    resets,
    units,
    toGates + ofCandidate,
    width,
    0,
    toRecurrent + ofCandidate,
    width,
  );
  return [dGates, dRecurrent, carry];
}
