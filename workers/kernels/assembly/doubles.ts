import { at } from './arithmetic';

// Sums of partial sums, in float64: 8 bytes per value.

/** doubles + the lower two of four float32 values. */
export function addLow(doubles: v128, values: v128): v128 {
  return f64x2.add(doubles, f64x2.promote_low_f32x4(values));
}

/** doubles + the upper two of four float32 values. */
export function addHigh(doubles: v128, values: v128): v128 {
  return f64x2.add(doubles, f64x2.promote_low_f32x4(v128.shuffle<f64>(values, values, 1, 1)));
}

/** Two pairs of doubles, times `scale`, as four float32 values. */
export function joinHalves(low: v128, high: v128, scale: f64): v128 {
  const factor = f64x2.splat(scale);
  const first = f32x4.demote_f64x2_zero(f64x2.mul(low, factor));
  return v128.shuffle<f64>(first, f32x4.demote_f64x2_zero(f64x2.mul(high, factor)), 0, 2);
}

/** totals ← totals + source, for `count` values; totals are float64, sources float32. */
export function addToDoubles(totals: usize, source: usize, count: i32): void {
  for (let i = 0; i < count; i++) {
    const total = totals + ((<usize>i) << 3);
    store<f64>(total, load<f64>(total) + <f64>load<f32>(at(source, i)));
  }
}

/** target ← scale · totals, `count` values. */
export function roundDoubles(totals: usize, scale: f64, target: usize, count: i32): void {
  for (let i = 0; i < count; i++) {
    store<f32>(at(target, i), <f32>(scale * load<f64>(totals + ((<usize>i) << 3))));
  }
}
