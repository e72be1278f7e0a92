import type { NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { required, type WasmRuntime } from '../kernel.ts';
import { type Sequence, stateBefore, zeros } from './sequence.ts';

/** The gradients of a layer's outputs, and what its way back fills. */
export interface WayBack {
  readonly hidden: number;
  readonly gates: number;
  /** Gradients of the gates' sums, `[B, T, G·U]`. */
  readonly dGates: TensorInfo;
  /** The gradient of h on its way back through the steps, `[B, U]`; in the end that of the initial state. */
  readonly carry: TensorInfo;
  /** Address and distance between rows of the output's gradient at a step; address 0 if only the last step has an output. */
  readonly slopeOf: (step: number) => { address: number; row: number };
}

export function wayBack(runtime: WasmRuntime, sequence: Sequence, inputs: NamedTensorInfoMap): WayBack {
  const { memory } = runtime;
  const { batch, length, units, width } = sequence;
  const dy = required(inputs, 'dy');
  const dyAddress = memory.address(dy);
  const isOfAll = dy.shape.length === 3;
  const atLast = (step: number) => ({ address: step === length - 1 ? dyAddress : 0, row: units });
  return {
    hidden: memory.address(required(inputs, 'hidden')),
    gates: memory.address(required(inputs, 'gates')),
    dGates: memory.output([batch, length, width]),
    carry: zeros(runtime, [batch, units]),
    slopeOf: isOfAll ? (step) => ({ address: dyAddress + 4 * step * units, row: length * units }) : atLast,
  };
}

/** The state before each step, `[B, T, U]` in order of time, as one matrix for the product with the gradients of the sums. */
export function statesBefore(
  { memory, kernels }: WasmRuntime,
  sequence: Sequence,
  hidden: number,
  initial: number,
): TensorInfo {
  const { batch, length, units, timeOf } = sequence;
  const states = memory.output([batch, length, units]);
  const to = memory.address(states);
  for (let step = 0; step < length; step++) {
    const { address, row } = stateBefore(sequence, hidden, initial, step);
    kernels.copyRows(address, row, to + 4 * timeOf(step) * units, length * units, batch, units);
  }
  return states;
}
