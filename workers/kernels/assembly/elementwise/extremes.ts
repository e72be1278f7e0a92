import { at } from '../arithmetic';

/** out ← min(max(x, lowest), highest), NaN where x is NaN, for `size` values. */
export function clip(x: usize, size: i32, lowest: f32, highest: f32, out: usize): void {
  const low = f32x4.splat(lowest);
  const high = f32x4.splat(highest);
  const whole = size & ~3;
  for (let i = 0; i < whole; i += 4) v128.store(at(out, i), f32x4.min(f32x4.max(v128.load(at(x, i)), low), high));
  for (let i = whole; i < size; i++) store<f32>(at(out, i), min(max(load<f32>(at(x, i)), lowest), highest));
}

/**
 * out ← the larger of a and b, or with `isMinimum` the smaller; NaN where either is NaN. A step of 0 repeats the
 * operand's first value, 1 reads all values.
 */
export function extreme(a: usize, stepA: i32, b: usize, stepB: i32, size: i32, isMinimum: bool, out: usize): void {
  const whole = stepA + stepB == 2 ? size & ~3 : 0;
  for (let i = 0; i < whole; i += 4) {
    const first = v128.load(at(a, i));
    const second = v128.load(at(b, i));
    v128.store(at(out, i), isMinimum ? f32x4.min(first, second) : f32x4.max(first, second));
  }
  for (let i = whole; i < size; i++) {
    const first = load<f32>(at(a, i * stepA));
    const second = load<f32>(at(b, i * stepB));
    store<f32>(at(out, i), isMinimum ? min(first, second) : max(first, second));
  }
}
