import { at } from './arithmetic';
import { addScaled, copy } from './rows';
import { Window } from './window';

/**
 * The gradient of a max pool, added to `dx`: each window's gradient goes to the first of its largest values, row by row. `y` is what the pool
 * gave, `unclaimed` scratch space for C values.
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

/** Where x is the largest value, moves what is unclaimed to `target`. */
function claim(target: usize, x: usize, largest: usize, unclaimed: usize, channels: i32): void {
  const whole = channels & ~3;
  for (let i = 0; i < whole; i += 4) {
    const isLargest = f32x4.eq(v128.load(at(x, i)), v128.load(at(largest, i)));
    const gradient = v128.load(at(unclaimed, i));
    v128.store(at(target, i), f32x4.add(v128.load(at(target, i)), v128.and(gradient, isLargest)));
    v128.store(at(unclaimed, i), v128.andnot(gradient, isLargest));
  }
  for (let i = whole; i < channels; i++) {
    if (load<f32>(at(x, i)) != load<f32>(at(largest, i))) continue;
    store<f32>(at(target, i), load<f32>(at(target, i)) + load<f32>(at(unclaimed, i)));
    store<f32>(at(unclaimed, i), 0);
  }
}

/** The gradient of an average pool, added to `dx`: dy / (KH · KW) for each value under the window. */
export function avgPoolGradient(dy: usize, dx: usize, window: Window, positions: i32): void {
  const channels = window.channels;
  const share: f32 = 1 / <f32>(window.kernelHeight * window.kernelWidth);
  for (let position = 0; position < positions; position++) {
    window.moveTo(position);
    for (let kernelRow = 0; kernelRow < window.kernelHeight; kernelRow++) {
      for (let kernelColumn = 0; kernelColumn < window.kernelWidth; kernelColumn++) {
        const pixel = window.pixelUnder(kernelRow, kernelColumn);
        if (pixel < 0) continue;
        addScaled(at(dx, pixel), at(dy, position * channels), share, channels);
      }
    }
  }
}
