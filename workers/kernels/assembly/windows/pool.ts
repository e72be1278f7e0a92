import { at } from '../arithmetic';
import { addScaled, copy } from '../rows';
import { Window } from './window';

/** The largest value of each window, NaN if the window has a NaN: y `[B, OH, OW, C]` of images x `[B, H, W, C]`. */
export function maxPool(x: usize, y: usize, window: Window, positions: i32): void {
  const channels = window.channels;
  const lineBytes = (<usize>(window.width * channels)) << 2;
  const pixelBytes = (<usize>channels) << 2;
  for (let position = 0; position < positions; position++) {
    window.moveTo(position);
    const rows = window.lastRow() - window.firstRow();
    const columns = window.lastColumn() - window.firstColumn();
    const source = at(x, window.pixelUnder(window.firstRow(), window.firstColumn()));
    const target = at(y, position * channels);
    for (let c = 0; c < channels; c += 4) {
      const lanes = min(channels - c, 4);
      storeLanes(at(target, c), largestUnder(at(source, c), rows, lineBytes, columns, pixelBytes, lanes), lanes);
    }
  }
}

/** NaN is tracked separately, because a maximum that keeps NaN takes several instructions. */
function largestUnder(source: usize, rows: i32, lineBytes: usize, columns: i32, pixelBytes: usize, lanes: i32): v128 {
  let largest = loadLanes(source, lanes);
  let isNan = f32x4.ne(largest, largest);
  for (let row = 0; row < rows; row++) {
    let pixel = source;
    for (let column = 0; column < columns; column++) {
      const value = loadLanes(pixel, lanes);
      largest = f32x4.pmax(largest, value);
      isNan = v128.or(isNan, f32x4.ne(value, value));
      pixel += pixelBytes;
    }
    source += lineBytes;
  }
  return v128.or(largest, isNan);
}

/** The mean of each window's values, without padding. */
export function avgPool(x: usize, y: usize, window: Window, positions: i32): void {
  const channels = window.channels;
  const lineBytes = (<usize>(window.width * channels)) << 2;
  const pixelBytes = (<usize>channels) << 2;
  for (let position = 0; position < positions; position++) {
    window.moveTo(position);
    const rows = window.lastRow() - window.firstRow();
    const columns = window.lastColumn() - window.firstColumn();
    const source = at(x, window.pixelUnder(window.firstRow(), window.firstColumn()));
    const target = at(y, position * channels);
    const share = f32x4.splat(1 / <f32>(rows * columns));
    for (let c = 0; c < channels; c += 4) {
      const lanes = min(channels - c, 4);
      const sum = sumUnder(at(source, c), rows, lineBytes, columns, pixelBytes, lanes);
      storeLanes(at(target, c), f32x4.mul(sum, share), lanes);
    }
  }
}

/** Sums each row, then the sums of the rows, so that long sums lose no digits. */
function sumUnder(source: usize, rows: i32, lineBytes: usize, columns: i32, pixelBytes: usize, lanes: i32): v128 {
  let sum = f32x4.splat(0);
  for (let row = 0; row < rows; row++) {
    let pixel = source;
    let ofRow = f32x4.splat(0);
    for (let column = 0; column < columns; column++) {
      ofRow = f32x4.add(ofRow, loadLanes(pixel, lanes));
      pixel += pixelBytes;
    }
    sum = f32x4.add(sum, ofRow);
    source += lineBytes;
  }
  return sum;
}

/** The first 1 to 4 lanes; the others are 0. */
function loadLanes(source: usize, lanes: i32): v128 {
  if (lanes == 4) return v128.load(source);
  if (lanes == 1) return v128.load32_zero(source);
  const two = v128.load64_zero(source);
  return lanes == 2 ? two : v128.load32_lane(source, two, 2, 8);
}

function storeLanes(target: usize, values: v128, lanes: i32): void {
  if (lanes == 4) return v128.store(target, values);
  if (lanes == 1) return v128.store32_lane(target, values, 0);
  v128.store64_lane(target, values, 0);
  if (lanes == 3) v128.store32_lane(target, values, 2, 8);
}

/**
 * Adds the gradient of a max pool to `dx`. Each window's gradient goes to the first of its largest values, row by row,
 * or to the first NaN. `y` is the pool's output; `unclaimed` is scratch space for C values.
 */
export function maxPoolGradient(
  x: usize,
  y: usize,
  dy: usize,
  dx: usize,
  window: Window,
  positions: i32,
  unclaimed: usize,
): void {
  const channels = window.channels;
  for (let position = 0; position < positions; position++) {
    window.moveTo(position);
    const largest = at(y, position * channels);
    copy(at(dy, position * channels), unclaimed, channels);
    for (let kernelRow = 0; kernelRow < window.kernelHeight; kernelRow++) {
      for (let kernelColumn = 0; kernelColumn < window.kernelWidth; kernelColumn++) {
        const pixel = window.pixelUnder(kernelRow, kernelColumn);
        if (pixel < 0) continue;
        claim(at(dx, pixel), at(x, pixel), largest, unclaimed, channels);
      }
    }
  }
}

/**
 * Moves the unclaimed gradient to `target` where x is the largest value; where the largest value is NaN, to the x that
 * is NaN.
 */
function claim(target: usize, x: usize, largest: usize, unclaimed: usize, channels: i32): void {
  const whole = channels & ~3;
  for (let i = 0; i < whole; i += 4) {
    const value = v128.load(at(x, i));
    const isLargest = v128.or(f32x4.eq(value, v128.load(at(largest, i))), f32x4.ne(value, value));
    const gradient = v128.load(at(unclaimed, i));
    v128.store(at(target, i), f32x4.add(v128.load(at(target, i)), v128.and(gradient, isLargest)));
    v128.store(at(unclaimed, i), v128.andnot(gradient, isLargest));
  }
  for (let i = whole; i < channels; i++) {
    const value = load<f32>(at(x, i));
    if (value == value && value != load<f32>(at(largest, i))) continue;
    store<f32>(at(target, i), load<f32>(at(target, i)) + load<f32>(at(unclaimed, i)));
    store<f32>(at(unclaimed, i), 0);
  }
}

/**
 * Adds the gradient of an average pool to `dx`: dy divided by the number of values under the window, for each of them.
 */
export function avgPoolGradient(dy: usize, dx: usize, window: Window, positions: i32): void {
  const channels = window.channels;
  for (let position = 0; position < positions; position++) {
    window.moveTo(position);
    const share: f32 = 1 / <f32>window.covered();
    for (let kernelRow = window.firstRow(); kernelRow < window.lastRow(); kernelRow++) {
      for (let kernelColumn = window.firstColumn(); kernelColumn < window.lastColumn(); kernelColumn++) {
        const pixel = window.pixelUnder(kernelRow, kernelColumn);
        addScaled(at(dx, pixel), at(dy, position * channels), share, channels);
      }
    }
  }
}
