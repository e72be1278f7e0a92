import { at } from '../arithmetic';
import { addTo, clear, copy } from '../rows';
import { activate, slope } from './activations';
import { loadLanes, storeLanes } from './lanes';
import { Sequence } from './sequence';

/**
 * One step of an LSTM (Hochreiter and Schmidhuber, 1997). `gates` holds the sums of the gates i, f, g, o, and becomes their activations:
 * c = f · c' + i · g, h = o · act(c), with c' of the step before.
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
  for (let j = 0; j < units; j += 4) {
    const i = activate(gate, loadLanes(gates, j, units));
    const f = activate(gate, loadLanes(at(gates, units), j, units));
    const g = activate(sequence.activation, loadLanes(at(gates, 2 * units), j, units));
    const o = activate(gate, loadLanes(at(gates, 3 * units), j, units));
    const cell = f32x4.add(f32x4.mul(f, loadLanes(before, j, units)), f32x4.mul(i, g));
    storeLanes(gates, j, units, i);
    storeLanes(at(gates, units), j, units, f);
    storeLanes(at(gates, 2 * units), j, units, g);
    storeLanes(at(gates, 3 * units), j, units, o);
    storeLanes(c, j, units, cell);
    storeLanes(h, j, units, f32x4.mul(o, activate(sequence.activation, cell)));
  }
}

/**
 * Gradients of {@link lstmStep}. The carries hold the gradients of h and c that come from the steps after. Writes those of the gates' sums, and
 * leaves in the carries that of c' and the part of that of h' that passes by the gates.
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
  const gates = sequence.gatesRow(sequence.gates, b, step);
  const before = sequence.rowBefore(sequence.cells, sequence.initialC, b, step);
  const c = sequence.stateRow(sequence.cells, b, step);
  const carryC = sequence.carryRow(sequence.carryC, b);
  for (let j = 0; j < units; j += 4) {
    const i = loadLanes(gates, j, units);
    const f = loadLanes(at(gates, units), j, units);
    const g = loadLanes(at(gates, 2 * units), j, units);
    const o = loadLanes(at(gates, 3 * units), j, units);
    const y = activate(sequence.activation, loadLanes(c, j, units));
    const ofH = loadLanes(carryH, j, units);
    const throughOutput = f32x4.mul(f32x4.mul(ofH, o), slope(sequence.activation, y));
    const ofC = f32x4.add(loadLanes(carryC, j, units), throughOutput);
    storeLanes(sums, j, units, f32x4.mul(f32x4.mul(ofC, g), slope(gate, i)));
    storeLanes(at(sums, units), j, units, f32x4.mul(f32x4.mul(ofC, loadLanes(before, j, units)), slope(gate, f)));
    storeLanes(at(sums, 2 * units), j, units, f32x4.mul(f32x4.mul(ofC, i), slope(sequence.activation, g)));
    storeLanes(at(sums, 3 * units), j, units, f32x4.mul(f32x4.mul(ofH, y), slope(gate, o)));
    storeLanes(carryC, j, units, f32x4.mul(ofC, f));
  }
}
