import { at } from '../arithmetic';
import { multiply } from '../rows';
import { coefficientCount, writeCoefficients } from './coefficients';

/**
 * A recurrent layer's call over `batch` sequences, and where its arrays lie: 32-bit values that
 * `workers/backends/wasm/recurrent/sequence.ts` writes in this order. Arrays of gates are `[batch, length, width]` in
 * order of time, arrays of states `[batch, length, units]` in the order of steps; backwards, step 0 is the last time.
 */
@unmanaged
export class Sequence {
  batch: i32 = 0;
  length: i32 = 0;
  units: i32 = 0;
  width: i32 = 0;
  activation: i32 = 0;
  gateActivation: i32 = 0;
  isBackwards: i32 = 0;
  /** `[batch, length]` in order of time; at address 0 every step counts. */
  mask: usize = 0;
  initialH: usize = 0;
  initialC: usize = 0;
  gates: usize = 0;
  hidden: usize = 0;
  cells: usize = 0;
  /** r · h' of a GRU, `[batch, length, units]` in order of time. */
  resets: usize = 0;
  /** Gradients of the gates' sums. */
  dGates: usize = 0;
  /** Gradient of the output: `[batch, length, units]`, or `[batch, units]` of the last step. */
  dOutput: usize = 0;
  hasAllOutputs: i32 = 0;
  /** Gradients `[batch, units]` of h, of c, and of r · h' on their way back through the steps. */
  carryH: usize = 0;
  carryC: usize = 0;
  dReset: usize = 0;
  /** The factors `[batch, units]` of dropout on the state before each step; at address 0 there is none. */
  dropout: usize = 0;
  /** The states before the steps times these factors, `[batch, length, units]` in order of time. */
  dropped: usize = 0;

  /** The coefficients of activations, which lie behind. */
  @inline
  coefficients(): usize {
    return changetype<usize>(this) + offsetof<Sequence>();
  }

  @inline
  timeOf(step: i32): i32 {
    return this.isBackwards ? this.length - 1 - step : step;
  }

  /** Row of a sequence in an array of gates. */
  @inline
  gatesRow(gates: usize, sequence: i32, step: i32): usize {
    return at(gates, (sequence * this.length + this.timeOf(step)) * this.width);
  }

  @inline
  resetRow(sequence: i32, step: i32): usize {
    return at(this.resets, (sequence * this.length + this.timeOf(step)) * this.units);
  }

  /** Row of a sequence in an array of states. */
  @inline
  stateRow(states: usize, sequence: i32, step: i32): usize {
    return at(states, (sequence * this.length + step) * this.units);
  }

  /** The state before a step. */
  @inline
  rowBefore(states: usize, initial: usize, sequence: i32, step: i32): usize {
    return step == 0 ? at(initial, sequence * this.units) : this.stateRow(states, sequence, step - 1);
  }

  /** h of the step before, as the cell gets it. */
  @inline
  inputState(sequence: i32, step: i32): usize {
    if (this.dropout == 0) return this.rowBefore(this.hidden, this.initialH, sequence, step);
    return at(this.dropped, (sequence * this.length + this.timeOf(step)) * this.units);
  }

  @inline
  carryRow(carry: usize, sequence: i32): usize {
    return at(carry, sequence * this.units);
  }

  /** Gradient of a step's output, or 0 if it has none. */
  @inline
  outputRow(sequence: i32, step: i32): usize {
    if (this.hasAllOutputs) return this.stateRow(this.dOutput, sequence, step);
    return step == this.length - 1 ? at(this.dOutput, sequence * this.units) : 0;
  }

  /** Whether a step of a sequence counts. One that does not keeps the state. */
  @inline
  counts(sequence: i32, step: i32): bool {
    return this.mask == 0 || load<f32>(at(this.mask, sequence * this.length + this.timeOf(step))) != 0;
  }
}

/** Bytes of a `Sequence` with the coefficients behind it. */
export function sequenceBytes(): i32 {
  return <i32>offsetof<Sequence>() + (coefficientCount << 2);
}

/** Must be called once before the steps, after the fields are written. */
export function beginSequence(sequence: Sequence): void {
  writeCoefficients(sequence.coefficients());
}

/** Before a step: applies dropout to the state before it. */
export function dropState(sequence: Sequence, step: i32): void {
  const units = sequence.units;
  if (sequence.dropout == 0) return;
  for (let b = 0; b < sequence.batch; b++) {
    const before = sequence.rowBefore(sequence.hidden, sequence.initialH, b, step);
    multiply(before, at(sequence.dropout, b * units), sequence.inputState(b, step), units);
  }
}

/** After the gradients of a step: turns the gradient of h' with dropout into that of h'. */
export function dropCarry(sequence: Sequence, step: i32): void {
  const units = sequence.units;
  if (sequence.dropout == 0) return;
  for (let b = 0; b < sequence.batch; b++) {
    const carry = sequence.carryRow(sequence.carryH, b);
    if (sequence.counts(b, step)) multiply(carry, at(sequence.dropout, b * units), carry, units);
  }
}
