import { at } from './arithmetic';

/** sum ← sum + other, for `size` float32 values, with the same bits as scalar additions. */
export function addTo(sum: usize, other: usize, size: i32): void {
  const whole = size & ~3;
  for (let i = 0; i < whole; i += 4) {
    v128.store(at(sum, i), f32x4.add(v128.load(at(sum, i)), v128.load(at(other, i))));
  }
  for (let i = whole; i < size; i++) store<f32>(at(sum, i), load<f32>(at(sum, i)) + load<f32>(at(other, i)));
}

/** x ← x / divisor, for `size` float32 values. */
export function divideBy(x: usize, divisor: f32, size: i32): void {
  const whole = size & ~3;
  for (let i = 0; i < whole; i += 4) v128.store(at(x, i), f32x4.div(v128.load(at(x, i)), f32x4.splat(divisor)));
  for (let i = whole; i < size; i++) store<f32>(at(x, i), load<f32>(at(x, i)) / divisor);
}
