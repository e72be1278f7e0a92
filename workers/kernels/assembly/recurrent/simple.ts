import { addTo, clear, copy } from '../rows';
import { activate, slope } from './activations';
import { loadLanes, storeLanes } from './lanes';
import { Sequence } from './sequence';

/** One step of a simple recurrent layer: h = act(sums). */
export function simpleStep(sequence: Sequence, step: i32): void {
  const units = sequence.units;
  const table = sequence.coefficients();
  for (let b = 0; b < sequence.batch; b++) {
    const sums = sequence.gatesRow(sequence.gates, b, step);
    const h = sequence.stateRow(sequence.hidden, b, step);
    if (!sequence.counts(b, step)) {
      copy(sequence.rowBefore(sequence.hidden, sequence.initialH, b, step), h, units);
      continue;
    }
    for (let j = 0; j < units; j += 4) {
      storeLanes(h, j, units, activate(sequence.activation, loadLanes(sums, j, units), table));
    }
  }
}

/**
 * Gradients of {@link simpleStep}. `carryH` holds the gradient of h that comes from the steps after, and becomes what
 * passes by the step.
 */
export function simpleStepGradient(sequence: Sequence, step: i32): void {
  const units = sequence.units;
  const table = sequence.coefficients();
  for (let b = 0; b < sequence.batch; b++) {
    const carry = sequence.carryRow(sequence.carryH, b);
    const output = sequence.outputRow(b, step);
    if (output != 0) addTo(carry, output, units);
    const dSums = sequence.gatesRow(sequence.dGates, b, step);
    if (!sequence.counts(b, step)) {
      clear(dSums, units);
      continue;
    }
    const h = sequence.stateRow(sequence.hidden, b, step);
    for (let j = 0; j < units; j += 4) {
      const ofH = f32x4.mul(loadLanes(carry, j, units), slope(sequence.activation, loadLanes(h, j, units), table));
      storeLanes(dSums, j, units, ofH);
    }
    clear(carry, units);
  }
}
