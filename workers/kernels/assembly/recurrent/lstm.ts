import { at } from '../arithmetic';
import { addTo, clear, copy } from '../rows';
import { activate, slope } from './activations';
import { counts, loadLanes, storeLanes } from './lanes';

/**
 * One step of an LSTM (Hochreiter and Schmidhuber, 1997) for `rows` sequences. `gates` holds the sums of the gates i, f, g, o, and becomes their
 * activations: c = f · c' + i · g, h = o · act(c), with c' of the step before. A step that does not count keeps h' and c'. Distances between
 * rows are in values.
 */
export function lstmStep(
  gates: usize,
  gatesRow: i32,
  beforeH: usize,
  beforeC: usize,
  beforeRow: i32,
  h: usize,
  c: usize,
  row: i32,
  mask: usize,
  maskRow: i32,
  rows: i32,
  units: i32,
  activation: i32,
  gateActivation: i32,
): void {
  for (let b = 0; b < rows; b++) {
    const oldC = at(beforeC, b * beforeRow);
    const newH = at(h, b * row);
    const newC = at(c, b * row);
    if (!counts(mask, b * maskRow)) {
      copy(at(beforeH, b * beforeRow), newH, units);
      copy(oldC, newC, units);
      continue;
    }
    const gateI = at(gates, b * gatesRow);
    const gateF = at(gateI, units);
    const gateG = at(gateF, units);
    const gateO = at(gateG, units);
    for (let j = 0; j < units; j += 4) {
      const i = activate(gateActivation, loadLanes(gateI, j, units));
      const f = activate(gateActivation, loadLanes(gateF, j, units));
      const g = activate(activation, loadLanes(gateG, j, units));
      const o = activate(gateActivation, loadLanes(gateO, j, units));
      const cell = f32x4.add(f32x4.mul(f, loadLanes(oldC, j, units)), f32x4.mul(i, g));
      storeLanes(gateI, j, units, i);
      storeLanes(gateF, j, units, f);
      storeLanes(gateG, j, units, g);
      storeLanes(gateO, j, units, o);
      storeLanes(newC, j, units, cell);
      storeLanes(newH, j, units, f32x4.mul(o, activate(activation, cell)));
    }
  }
}

/**
 * Gradients of {@link lstmStep}. `carryH` and `carryC` (`[rows, units]`) hold the gradients that come from the steps after; `dh` adds the
 * output's gradient (address 0: none). Writes the gradients of the gates' sums to `dGates`, and into the carries those of c' and the part of
 * those of h' that passes by the gates.
 */
export function lstmStepGradient(
  gates: usize,
  dGates: usize,
  gatesRow: i32,
  beforeC: usize,
  beforeRow: i32,
  c: usize,
  row: i32,
  dh: usize,
  dhRow: i32,
  carryH: usize,
  carryC: usize,
  mask: usize,
  maskRow: i32,
  rows: i32,
  units: i32,
  activation: i32,
  gateActivation: i32,
): void {
  for (let b = 0; b < rows; b++) {
    const ofH = at(carryH, b * units);
    const ofC = at(carryC, b * units);
    if (dh != 0) addTo(ofH, at(dh, b * dhRow), units);
    const dI = at(dGates, b * gatesRow);
    if (!counts(mask, b * maskRow)) {
      clear(dI, 4 * units);
      continue;
    }
    const gateI = at(gates, b * gatesRow);
    const oldC = at(beforeC, b * beforeRow);
    const newC = at(c, b * row);
    for (let j = 0; j < units; j += 4) {
      const i = loadLanes(gateI, j, units);
      const f = loadLanes(at(gateI, units), j, units);
      const g = loadLanes(at(gateI, 2 * units), j, units);
      const o = loadLanes(at(gateI, 3 * units), j, units);
      const y = activate(activation, loadLanes(newC, j, units));
      const slopeH = loadLanes(ofH, j, units);
      const throughOutput = f32x4.mul(f32x4.mul(slopeH, o), slope(activation, y));
      const slopeC = f32x4.add(loadLanes(ofC, j, units), throughOutput);
      const sumI = f32x4.mul(f32x4.mul(slopeC, g), slope(gateActivation, i));
      const sumF = f32x4.mul(f32x4.mul(slopeC, loadLanes(oldC, j, units)), slope(gateActivation, f));
      const sumG = f32x4.mul(f32x4.mul(slopeC, i), slope(activation, g));
      const sumO = f32x4.mul(f32x4.mul(slopeH, y), slope(gateActivation, o));
      storeLanes(dI, j, units, sumI);
      storeLanes(at(dI, units), j, units, sumF);
      storeLanes(at(dI, 2 * units), j, units, sumG);
      storeLanes(at(dI, 3 * units), j, units, sumO);
      storeLanes(ofC, j, units, f32x4.mul(slopeC, f));
    }
    clear(ofH, units);
  }
}
