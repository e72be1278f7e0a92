import { at } from '../arithmetic';
import { addToDoubles, roundDoubles } from '../doubles';
import { addProducts, clear } from '../rows';
import { Window } from './window';

/**
 * Depthwise convolution of images `[B, H, W, C]` with a filter `[KH, KW, C, M]` into `[B, OH, OW, C · M]`: output
 * channel c · M + q is channel c convolved with filter (c, q). Outputs must be zeros before the call; `positions` is B
 * · OH · OW.
 */
export function depthwise(x: usize, filter: usize, y: usize, window: Window, multiplier: i32, positions: i32): void {
  const outputs = window.channels * multiplier;
  for (let position = 0; position < positions; position++) {
    window.moveTo(position);
    const target = at(y, position * outputs);
    for (let kernelRow = 0; kernelRow < window.kernelHeight; kernelRow++) {
      for (let kernelColumn = 0; kernelColumn < window.kernelWidth; kernelColumn++) {
        const pixel = window.pixelUnder(kernelRow, kernelColumn);
        if (pixel < 0) continue;
        const source = at(x, pixel);
        const weights = at(filter, (kernelRow * window.kernelWidth + kernelColumn) * outputs);
        if (multiplier == 1) addProducts(target, source, weights, outputs);
        else addSpread(target, source, weights, window.channels, multiplier);
      }
    }
  }
}

/** Adds the gradient with respect to the images to `dx`. */
export function depthwiseInputGradient(
  dy: usize,
  filter: usize,
  dx: usize,
  window: Window,
  multiplier: i32,
  positions: i32,
): void {
  const outputs = window.channels * multiplier;
  for (let position = 0; position < positions; position++) {
    window.moveTo(position);
    const source = at(dy, position * outputs);
    for (let kernelRow = 0; kernelRow < window.kernelHeight; kernelRow++) {
      for (let kernelColumn = 0; kernelColumn < window.kernelWidth; kernelColumn++) {
        const pixel = window.pixelUnder(kernelRow, kernelColumn);
        if (pixel < 0) continue;
        const target = at(dx, pixel);
        const weights = at(filter, (kernelRow * window.kernelWidth + kernelColumn) * outputs);
        if (multiplier == 1) addProducts(target, source, weights, outputs);
        else addGathered(target, source, weights, window.channels, multiplier);
      }
    }
  }
}

/** Number of positions whose products are summed in float32. The sums of blocks are added in float64. */
const blockPositions: i32 = 64;

/** The gradient with respect to the filter. `scratch` has space for three times its values. */
export function depthwiseFilterGradient(
  x: usize,
  dy: usize,
  dFilter: usize,
  window: Window,
  multiplier: i32,
  positions: i32,
  scratch: usize,
): void {
  const size = window.kernelHeight * window.kernelWidth * window.channels * multiplier;
  const totals = at(scratch, size);
  clear(totals, 2 * size);
  for (let first = 0; first < positions; first += blockPositions) {
    clear(scratch, size);
    addFilterGradient(x, dy, scratch, window, multiplier, first, min(positions, first + blockPositions));
    addToDoubles(totals, scratch, size);
  }
  roundDoubles(totals, 1, dFilter, size);
}

/** Adds the gradient of positions `first` to `last` (exclusive) to `dFilter`. */
function addFilterGradient(
  x: usize,
  dy: usize,
  dFilter: usize,
  window: Window,
  multiplier: i32,
  first: i32,
  last: i32,
): void {
  const outputs = window.channels * multiplier;
  for (let position = first; position < last; position++) {
    window.moveTo(position);
    const gradients = at(dy, position * outputs);
    for (let kernelRow = 0; kernelRow < window.kernelHeight; kernelRow++) {
      for (let kernelColumn = 0; kernelColumn < window.kernelWidth; kernelColumn++) {
        const pixel = window.pixelUnder(kernelRow, kernelColumn);
        if (pixel < 0) continue;
        const source = at(x, pixel);
        const target = at(dFilter, (kernelRow * window.kernelWidth + kernelColumn) * outputs);
        if (multiplier == 1) addProducts(target, source, gradients, outputs);
        else addSpread(target, source, gradients, window.channels, multiplier);
      }
    }
  }
}

/** target[c, q] ← target[c, q] + narrow[c] · wide[c, q] */
function addSpread(target: usize, narrow: usize, wide: usize, channels: i32, multiplier: i32): void {
  for (let channel = 0; channel < channels; channel++) {
    const value = load<f32>(at(narrow, channel));
    for (let i = channel * multiplier; i < (channel + 1) * multiplier; i++) {
      store<f32>(at(target, i), load<f32>(at(target, i)) + value * load<f32>(at(wide, i)));
    }
  }
}

/** target[c] ← target[c] + Σ over q of a[c, q] · b[c, q] */
function addGathered(target: usize, a: usize, b: usize, channels: i32, multiplier: i32): void {
  for (let channel = 0; channel < channels; channel++) {
    let sum: f32 = 0;
    for (let i = channel * multiplier; i < (channel + 1) * multiplier; i++) {
      sum += load<f32>(at(a, i)) * load<f32>(at(b, i));
    }
    store<f32>(at(target, channel), load<f32>(at(target, channel)) + sum);
  }
}
