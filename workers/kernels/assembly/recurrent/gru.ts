import { at } from '../arithmetic';
import { addTo, clear, copy } from '../rows';
import { activate, slope } from './activations';
import { counts, loadLanes, storeLanes } from './lanes';

/**
 * The first half of a step of a GRU (Cho et al., 2014) for `rows` sequences. `gates` holds the sums of the gates z and r, and becomes their
 * activations; `reset` becomes r · h', with h' of the step before. Distances between rows are in values.
 */
export function gruGates(
  gates: usize,
  gatesRow: i32,
  before: usize,
  beforeRow: i32,
  reset: usize,
  resetRow: i32,
  rows: i32,
  units: i32,
  gateActivation: i32,
): void {
  for (let b = 0; b < rows; b++) {
    const gateZ = at(gates, b * gatesRow);
    const gateR = at(gateZ, units);
    const old = at(before, b * beforeRow);
    const product = at(reset, b * resetRow);
    for (let j = 0; j < units; j += 4) {
      const r = activate(gateActivation, loadLanes(gateR, j, units));
      storeLanes(gateZ, j, units, activate(gateActivation, loadLanes(gateZ, j, units)));
      storeLanes(gateR, j, units, r);
      storeLanes(product, j, units, f32x4.mul(r, loadLanes(old, j, units)));
    }
  }
}

/** The second half: `gates` also holds the sum of the candidate n, and h = z · h' + (1 − z) · act(n). A step that does not count keeps h'. */
export function gruStep(
  gates: usize,
  gatesRow: i32,
  before: usize,
  beforeRow: i32,
  h: usize,
  row: i32,
  mask: usize,
  maskRow: i32,
  rows: i32,
  units: i32,
  activation: i32,
): void {
  for (let b = 0; b < rows; b++) {
    const gateZ = at(gates, b * gatesRow);
    const candidate = at(gateZ, 2 * units);
    const old = at(before, b * beforeRow);
    const newH = at(h, b * row);
    if (!counts(mask, b * maskRow)) {
      copy(old, newH, units);
      continue;
    }
    for (let j = 0; j < units; j += 4) {
      const z = loadLanes(gateZ, j, units);
      const n = activate(activation, loadLanes(candidate, j, units));
      storeLanes(candidate, j, units, n);
      const kept = f32x4.mul(z, loadLanes(old, j, units));
      storeLanes(newH, j, units, f32x4.add(kept, f32x4.mul(f32x4.sub(f32x4.splat(1), z), n)));
    }
  }
}

/**
 * The gradients of {@link gruStep} with respect to the sums of z and n, written to `dGates`. `carry` (`[rows, units]`) holds the gradient of h
 * that comes from the steps after; `dh` adds the output's gradient (address 0: none). `carry` becomes the part of the gradient of h' that
 * passes by the gates.
 */
export function gruStepGradient(
  gates: usize,
  dGates: usize,
  gatesRow: i32,
  before: usize,
  beforeRow: i32,
  dh: usize,
  dhRow: i32,
  carry: usize,
  mask: usize,
  maskRow: i32,
  rows: i32,
  units: i32,
  activation: i32,
  gateActivation: i32,
): void {
  for (let b = 0; b < rows; b++) {
    const ofH = at(carry, b * units);
    if (dh != 0) addTo(ofH, at(dh, b * dhRow), units);
    const dZ = at(dGates, b * gatesRow);
    if (!counts(mask, b * maskRow)) {
      clear(dZ, 3 * units);
      continue;
    }
    const gateZ = at(gates, b * gatesRow);
    const old = at(before, b * beforeRow);
    for (let j = 0; j < units; j += 4) {
      const z = loadLanes(gateZ, j, units);
      const n = loadLanes(at(gateZ, 2 * units), j, units);
      const slopeH = loadLanes(ofH, j, units);
      const ofZ = f32x4.mul(slopeH, f32x4.sub(loadLanes(old, j, units), n));
      const ofN = f32x4.mul(slopeH, f32x4.sub(f32x4.splat(1), z));
      storeLanes(dZ, j, units, f32x4.mul(ofZ, slope(gateActivation, z)));
      storeLanes(at(dZ, 2 * units), j, units, f32x4.mul(ofN, slope(activation, n)));
      storeLanes(ofH, j, units, f32x4.mul(slopeH, z));
    }
  }
}

/** The gradients of {@link gruGates}: from `dReset` (`[rows, units]`), that of r · h', the gradient of r's sum, and r · dReset added to `carry`. */
export function gruGatesGradient(
  gates: usize,
  dGates: usize,
  gatesRow: i32,
  before: usize,
  beforeRow: i32,
  dReset: usize,
  carry: usize,
  mask: usize,
  maskRow: i32,
  rows: i32,
  units: i32,
  gateActivation: i32,
): void {
  for (let b = 0; b < rows; b++) {
    if (!counts(mask, b * maskRow)) continue;
    const gateR = at(gates, b * gatesRow + units);
    const dR = at(dGates, b * gatesRow + units);
    const old = at(before, b * beforeRow);
    const product = at(dReset, b * units);
    const ofH = at(carry, b * units);
    for (let j = 0; j < units; j += 4) {
      const r = loadLanes(gateR, j, units);
      const slopeReset = loadLanes(product, j, units);
      const ofR = f32x4.mul(slopeReset, loadLanes(old, j, units));
      storeLanes(dR, j, units, f32x4.mul(ofR, slope(gateActivation, r)));
      storeLanes(ofH, j, units, f32x4.add(loadLanes(ofH, j, units), f32x4.mul(slopeReset, r)));
    }
  }
}
