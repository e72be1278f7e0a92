import { at } from '../arithmetic';

/**
 * x ← act(x + bias) for `rows x columns` values. `bias` has one value per column; at address 0 there is no bias.
 * Activations: 0 none, 1 ReLU, 2 ReLU6.
 */
export function addBias(x: usize, bias: usize, rows: i32, columns: i32, activation: i32): void {
  // Minimum and maximum of "p" are one instruction each; in this order they keep NaN.
  const lowest = f32x4.splat(activation == 0 ? -Infinity : 0);
  const highest = f32x4.splat(activation == 2 ? 6 : Infinity);
  const whole = columns & ~3;
  for (let i = 0; i < rows; i++) {
    const row = at(x, i * columns);
    if (bias == 0) {
      for (let j = 0; j < whole; j += 4) {
        v128.store(at(row, j), f32x4.pmin(f32x4.pmax(v128.load(at(row, j)), lowest), highest));
      }
    } else {
      for (let j = 0; j < whole; j += 4) {
        const sum = f32x4.add(v128.load(at(row, j)), v128.load(at(bias, j)));
        v128.store(at(row, j), f32x4.pmin(f32x4.pmax(sum, lowest), highest));
      }
    }
    for (let j = whole; j < columns; j++) {
      const value = load<f32>(at(row, j));
      const sum = bias == 0 ? value : value + load<f32>(at(bias, j));
      store<f32>(at(row, j), min(max(sum, f32x4.extract_lane(lowest, 0)), f32x4.extract_lane(highest, 0)));
    }
  }
}
