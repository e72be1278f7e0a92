import { at } from '../arithmetic';
import { addTo, clear, copy } from '../rows';
import { Activation, activate, hardSigmoid, sigmoid, slope, tanh } from './activations';
import { loadLanes, storeEight, storeLanes } from './lanes';
import { Sequence } from './sequence';

/**
 * One step of an LSTM (Hochreiter and Schmidhuber, 1997). `gates` holds the sums of the gates i, f, g, o, and becomes
 * their activations: c = f · c' + i · g, h = o · act(c), with c' of the step before.
 */
export function lstmStep(sequence: Sequence, step: i32): void {
  for (let b = 0; b < sequence.batch; b++) {
    const before = sequence.rowBefore(sequence.cells, sequence.initialC, b, step);
    const h = sequence.stateRow(sequence.hidden, b, step);
    const c = sequence.stateRow(sequence.cells, b, step);
    if (sequence.counts(b, step)) {
      activateRow(sequence, sequence.gatesRow(sequence.gates, b, step), before, h, c);
    } else {
      copy(sequence.rowBefore(sequence.hidden, sequence.initialH, b, step), h, sequence.units);
      copy(before, c, sequence.units);
    }
  }
}

function activateRow(sequence: Sequence, gates: usize, before: usize, h: usize, c: usize): void {
  const units = sequence.units;
  const gate = sequence.gateActivation;
  const table = sequence.coefficients();
  let first = 0;
  if (sequence.activation == tanh) {
    if (gate == sigmoid) first = LstmEights.activate(sigmoid, tanh, table, units, gates, before, h, c);
    else if (gate == hardSigmoid) first = LstmEights.activate(hardSigmoid, tanh, table, units, gates, before, h, c);
  }
  for (let j = first; j < units; j += 4) {
    const i = activate(gate, loadLanes(gates, j, units), table);
    const f = activate(gate, loadLanes(at(gates, units), j, units), table);
    const g = activate(sequence.activation, loadLanes(at(gates, 2 * units), j, units), table);
    const o = activate(gate, loadLanes(at(gates, 3 * units), j, units), table);
    const cell = f32x4.add(f32x4.mul(f, loadLanes(before, j, units)), f32x4.mul(i, g));
    storeLanes(gates, j, units, i);
    storeLanes(at(gates, units), j, units, f);
    storeLanes(at(gates, 2 * units), j, units, g);
    storeLanes(at(gates, 3 * units), j, units, o);
    storeLanes(c, j, units, cell);
    storeLanes(h, j, units, f32x4.mul(o, activate(sequence.activation, cell, table)));
  }
}

/**
 * Gradients of {@link lstmStep}. The carries hold the gradients of h and c that come from the steps after. Writes those
 * of the gates' sums, and leaves in the carries that of c' and the part of that of h' that passes by the gates.
 */
export function lstmStepGradient(sequence: Sequence, step: i32): void {
  const units = sequence.units;
  for (let b = 0; b < sequence.batch; b++) {
    const carryH = sequence.carryRow(sequence.carryH, b);
    const output = sequence.outputRow(b, step);
    if (output != 0) addTo(carryH, output, units);
    const sums = sequence.gatesRow(sequence.dGates, b, step);
    if (!sequence.counts(b, step)) {
      clear(sums, 4 * units);
      continue;
    }
    pullRow(sequence, step, b, sums, carryH);
    clear(carryH, units);
  }
}

/** The gradients of a sequence's gates. */
function pullRow(sequence: Sequence, step: i32, b: i32, sums: usize, carryH: usize): void {
  const units = sequence.units;
  const gate = sequence.gateActivation;
  const table = sequence.coefficients();
  const gates = sequence.gatesRow(sequence.gates, b, step);
  const before = sequence.rowBefore(sequence.cells, sequence.initialC, b, step);
  const c = sequence.stateRow(sequence.cells, b, step);
  const carryC = sequence.carryRow(sequence.carryC, b);
  let first = 0;
  if (sequence.activation == tanh) {
    if (gate == sigmoid) first = LstmEights.pull(sigmoid, tanh, table, units, gates, before, c, sums, carryH, carryC);
    else if (gate == hardSigmoid) {
      first = LstmEights.pull(hardSigmoid, tanh, table, units, gates, before, c, sums, carryH, carryC);
    }
  }
  for (let j = first; j < units; j += 4) {
    const i = loadLanes(gates, j, units);
    const f = loadLanes(at(gates, units), j, units);
    const g = loadLanes(at(gates, 2 * units), j, units);
    const o = loadLanes(at(gates, 3 * units), j, units);
    const y = activate(sequence.activation, loadLanes(c, j, units), table);
    const ofH = loadLanes(carryH, j, units);
    const throughOutput = f32x4.mul(f32x4.mul(ofH, o), slope(sequence.activation, y, table));
    const ofC = f32x4.add(loadLanes(carryC, j, units), throughOutput);
    storeLanes(sums, j, units, f32x4.mul(f32x4.mul(ofC, g), slope(gate, i, table)));
    storeLanes(
      at(sums, units),
      j,
      units,
      f32x4.mul(f32x4.mul(ofC, loadLanes(before, j, units)), slope(gate, f, table)),
    );
    storeLanes(at(sums, 2 * units), j, units, f32x4.mul(f32x4.mul(ofC, i), slope(sequence.activation, g, table)));
    storeLanes(at(sums, 3 * units), j, units, f32x4.mul(f32x4.mul(ofH, y), slope(gate, o, table)));
    storeLanes(carryC, j, units, f32x4.mul(ofC, f));
  }
}

/**
 * The two loops above for eight units at a time and constant activations, as far as eight fit; they return the first
 * unit that is left. The loads of two neighbouring vectors lie side by side, as do the stores: V8 joins only such to
 * 256-bit instructions.
 */
class LstmEights {
  @inline
  static activate(
    gate: i32,
    activation: i32,
    table: usize,
    units: i32,
    gates: usize,
    before: usize,
    h: usize,
    c: usize,
  ): i32 {
    const whole = units & ~7;
    for (let j = 0; j < whole; j += 8) {
      const placeI = at(gates, j);
      const placeF = at(placeI, units);
      const placeG = at(placeF, units);
      const placeO = at(placeG, units);
      const sumI0 = v128.load(placeI);
      const sumI1 = v128.load(placeI, 16);
      const sumF0 = v128.load(placeF);
      const sumF1 = v128.load(placeF, 16);
      const sumG0 = v128.load(placeG);
      const sumG1 = v128.load(placeG, 16);
      const sumO0 = v128.load(placeO);
      const sumO1 = v128.load(placeO, 16);
      const before0 = v128.load(at(before, j));
      const before1 = v128.load(at(before, j), 16);
      const i0 = Activation.of(gate, sumI0, table);
      const i1 = Activation.of(gate, sumI1, table);
      const f0 = Activation.of(gate, sumF0, table);
      const f1 = Activation.of(gate, sumF1, table);
      const g0 = Activation.of(activation, sumG0, table);
      const g1 = Activation.of(activation, sumG1, table);
      const o0 = Activation.of(gate, sumO0, table);
      const o1 = Activation.of(gate, sumO1, table);
      const c0 = f32x4.add(f32x4.mul(f0, before0), f32x4.mul(i0, g0));
      const c1 = f32x4.add(f32x4.mul(f1, before1), f32x4.mul(i1, g1));
      const h0 = f32x4.mul(o0, Activation.of(activation, c0, table));
      const h1 = f32x4.mul(o1, Activation.of(activation, c1, table));
      storeEight(placeI, i0, i1);
      storeEight(placeF, f0, f1);
      storeEight(placeG, g0, g1);
      storeEight(placeO, o0, o1);
      storeEight(at(c, j), c0, c1);
      storeEight(at(h, j), h0, h1);
    }
    return whole;
  }

  @inline
  static pull(
    gate: i32,
    activation: i32,
    table: usize,
    units: i32,
    gates: usize,
    before: usize,
    c: usize,
    sums: usize,
    carryH: usize,
    carryC: usize,
  ): i32 {
    const whole = units & ~7;
    for (let j = 0; j < whole; j += 8) {
      const placeI = at(gates, j);
      const placeF = at(placeI, units);
      const placeG = at(placeF, units);
      const placeO = at(placeG, units);
      const i0 = v128.load(placeI);
      const i1 = v128.load(placeI, 16);
      const f0 = v128.load(placeF);
      const f1 = v128.load(placeF, 16);
      const g0 = v128.load(placeG);
      const g1 = v128.load(placeG, 16);
      const o0 = v128.load(placeO);
      const o1 = v128.load(placeO, 16);
      const before0 = v128.load(at(before, j));
      const before1 = v128.load(at(before, j), 16);
      const c0 = v128.load(at(c, j));
      const c1 = v128.load(at(c, j), 16);
      const ofH0 = v128.load(at(carryH, j));
      const ofH1 = v128.load(at(carryH, j), 16);
      const carried0 = v128.load(at(carryC, j));
      const carried1 = v128.load(at(carryC, j), 16);
      const y0 = Activation.of(activation, c0, table);
      const y1 = Activation.of(activation, c1, table);
      const ofC0 = f32x4.add(carried0, f32x4.mul(f32x4.mul(ofH0, o0), Activation.slope(activation, y0, table)));
      const ofC1 = f32x4.add(carried1, f32x4.mul(f32x4.mul(ofH1, o1), Activation.slope(activation, y1, table)));
      const ofI0 = f32x4.mul(f32x4.mul(ofC0, g0), Activation.slope(gate, i0, table));
      const ofI1 = f32x4.mul(f32x4.mul(ofC1, g1), Activation.slope(gate, i1, table));
      const ofF0 = f32x4.mul(f32x4.mul(ofC0, before0), Activation.slope(gate, f0, table));
      const ofF1 = f32x4.mul(f32x4.mul(ofC1, before1), Activation.slope(gate, f1, table));
      const ofG0 = f32x4.mul(f32x4.mul(ofC0, i0), Activation.slope(activation, g0, table));
      const ofG1 = f32x4.mul(f32x4.mul(ofC1, i1), Activation.slope(activation, g1, table));
      const ofO0 = f32x4.mul(f32x4.mul(ofH0, y0), Activation.slope(gate, o0, table));
      const ofO1 = f32x4.mul(f32x4.mul(ofH1, y1), Activation.slope(gate, o1, table));
      const sumI = at(sums, j);
      const sumF = at(sumI, units);
      const sumG = at(sumF, units);
      storeEight(sumI, ofI0, ofI1);
      storeEight(sumF, ofF0, ofF1);
      storeEight(sumG, ofG0, ofG1);
      storeEight(at(sumG, units), ofO0, ofO1);
      storeEight(at(carryC, j), f32x4.mul(ofC0, f0), f32x4.mul(ofC1, f1));
    }
    return whole;
  }
}
