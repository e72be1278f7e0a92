import { at } from '../arithmetic';
import { addTo, clear, copy } from '../rows';
import { activate, slope } from './activations';
import { loadLanes, storeLanes } from './lanes';
import { Sequence } from './sequence';

/**
 * The first half of a step of a GRU (Cho et al., 2014): the sums of the gates z and r become their activations, and
 * `resets` r · h', with h' of the step before.
 */
export function gruGates(sequence: Sequence, step: i32): void {
  const units = sequence.units;
  const table = sequence.coefficients();
  const gate = sequence.gateActivation;
  for (let b = 0; b < sequence.batch; b++) {
    const gateZ = sequence.gatesRow(sequence.gates, b, step);
    const gateR = at(gateZ, units);
    const before = sequence.inputState(b, step);
    const reset = sequence.resetRow(b, step);
    for (let j = 0; j < units; j += 4) {
      const r = activate(gate, loadLanes(gateR, j, units), table);
      storeLanes(gateZ, j, units, activate(gate, loadLanes(gateZ, j, units), table));
      storeLanes(gateR, j, units, r);
      storeLanes(reset, j, units, f32x4.mul(r, loadLanes(before, j, units)));
    }
  }
}

/** The second half: the sum of the candidate n becomes its activation, and h = z · h' + (1 − z) · n. */
export function gruStep(sequence: Sequence, step: i32): void {
  const units = sequence.units;
  const table = sequence.coefficients();
  for (let b = 0; b < sequence.batch; b++) {
    const gateZ = sequence.gatesRow(sequence.gates, b, step);
    const candidate = at(gateZ, 2 * units);
    const before = sequence.inputState(b, step);
    const h = sequence.stateRow(sequence.hidden, b, step);
    if (!sequence.counts(b, step)) {
      copy(sequence.rowBefore(sequence.hidden, sequence.initialH, b, step), h, units);
      continue;
    }
    for (let j = 0; j < units; j += 4) {
      const z = loadLanes(gateZ, j, units);
      const n = activate(sequence.activation, loadLanes(candidate, j, units), table);
      storeLanes(candidate, j, units, n);
      const kept = f32x4.mul(z, loadLanes(before, j, units));
      storeLanes(h, j, units, f32x4.add(kept, f32x4.mul(f32x4.sub(f32x4.splat(1), z), n)));
    }
  }
}

/**
 * The gradients of {@link gruStep} with respect to the sums of z and n. `carryH` holds the gradient of h that comes
 * from the steps after, and becomes the part of that of h' that passes by the gates.
 */
export function gruStepGradient(sequence: Sequence, step: i32): void {
  const units = sequence.units;
  const table = sequence.coefficients();
  for (let b = 0; b < sequence.batch; b++) {
    const carry = sequence.carryRow(sequence.carryH, b);
    const output = sequence.outputRow(b, step);
    if (output != 0) addTo(carry, output, units);
    const sumZ = sequence.gatesRow(sequence.dGates, b, step);
    if (!sequence.counts(b, step)) {
      clear(sumZ, 3 * units);
      continue;
    }
    const gateZ = sequence.gatesRow(sequence.gates, b, step);
    const before = sequence.inputState(b, step);
    for (let j = 0; j < units; j += 4) {
      const z = loadLanes(gateZ, j, units);
      const n = loadLanes(at(gateZ, 2 * units), j, units);
      const ofH = loadLanes(carry, j, units);
      const ofZ = f32x4.mul(ofH, f32x4.sub(loadLanes(before, j, units), n));
      const ofN = f32x4.mul(ofH, f32x4.sub(f32x4.splat(1), z));
      storeLanes(sumZ, j, units, f32x4.mul(ofZ, slope(sequence.gateActivation, z, table)));
      storeLanes(at(sumZ, 2 * units), j, units, f32x4.mul(ofN, slope(sequence.activation, n, table)));
      storeLanes(carry, j, units, f32x4.mul(ofH, z));
    }
  }
}

/**
 * The gradients of {@link gruGates}: from `dReset`, that of r · h', the gradient of r's sum; adds r · dReset to
 * `carryH`.
 */
export function gruGatesGradient(sequence: Sequence, step: i32): void {
  const units = sequence.units;
  const table = sequence.coefficients();
  for (let b = 0; b < sequence.batch; b++) {
    if (!sequence.counts(b, step)) continue;
    const gateR = at(sequence.gatesRow(sequence.gates, b, step), units);
    const sumR = at(sequence.gatesRow(sequence.dGates, b, step), units);
    const before = sequence.inputState(b, step);
    const dReset = sequence.carryRow(sequence.dReset, b);
    const carry = sequence.carryRow(sequence.carryH, b);
    for (let j = 0; j < units; j += 4) {
      const r = loadLanes(gateR, j, units);
      const ofReset = loadLanes(dReset, j, units);
      const ofR = f32x4.mul(ofReset, loadLanes(before, j, units));
      storeLanes(sumR, j, units, f32x4.mul(ofR, slope(sequence.gateActivation, r, table)));
      storeLanes(carry, j, units, f32x4.add(loadLanes(carry, j, units), f32x4.mul(ofReset, r)));
    }
  }
}
