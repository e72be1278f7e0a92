import { at } from '../arithmetic';
import { addTo, clear, copy } from '../rows';
import { activate, slope } from './activations';
import { counts, loadLanes, storeLanes } from './lanes';

/** One step of a simple recurrent layer for `rows` sequences: h = act(sums). A step that does not count keeps h of the step before. */
export function simpleStep(
  sums: usize,
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
    const sum = at(sums, b * row);
    const newH = at(h, b * row);
    if (!counts(mask, b * maskRow)) {
      copy(at(before, b * beforeRow), newH, units);
      continue;
    }
    for (let j = 0; j < units; j += 4) storeLanes(newH, j, units, activate(activation, loadLanes(sum, j, units)));
  }
}

/**
 * Gradients of {@link simpleStep}. `carry` (`[rows, units]`) holds the gradient of h that comes from the steps after; `dh` adds the output's
 * gradient (address 0: none). Writes the gradients of the sums; `carry` becomes the gradient that passes by a step that does not count.
 */
export function simpleStepGradient(
  h: usize,
  dSums: usize,
  row: i32,
  dh: usize,
  dhRow: i32,
  carry: usize,
  mask: usize,
  maskRow: i32,
  rows: i32,
  units: i32,
  activation: i32,
): void {
  for (let b = 0; b < rows; b++) {
    const ofH = at(carry, b * units);
    if (dh != 0) addTo(ofH, at(dh, b * dhRow), units);
    const dSum = at(dSums, b * row);
    if (!counts(mask, b * maskRow)) {
      clear(dSum, units);
      continue;
    }
    const newH = at(h, b * row);
    for (let j = 0; j < units; j += 4) {
      const ofSum = f32x4.mul(loadLanes(ofH, j, units), slope(activation, loadLanes(newH, j, units)));
      storeLanes(dSum, j, units, ofSum);
    }
    clear(ofH, units);
  }
}
