import { at, multiplyAdd } from '../arithmetic';

/** y ← tanh x within 3 ulp. NaN stays NaN. */
export function tanh(x: usize, size: i32, y: usize): void {
  const whole = size & ~3;
  for (let i = 0; i < whole; i += 4) v128.store(at(y, i), hyperbolicTangent(v128.load(at(x, i))));
  for (let i = whole; i < size; i++) {
    const value = hyperbolicTangent(f32x4.splat(load<f32>(at(x, i))));
    store<f32>(at(y, i), f32x4.extract_lane(value, 0));
  }
}

/**
 * −e / (e + 2) with e = exp(−2 |x|) − 1 and the sign of x. e is 2ⁿ (r + r² P(r)) + 2ⁿ − 1 by Cody and Waite's reduction
 * and the polynomial of Cephes's expf, which stays exact near 0. From |x| = 9.1 on tanh x is ±1 in float32.
 */
function hyperbolicTangent(x: v128): v128 {
  const bounded = f32x4.mul(f32x4.min(f32x4.abs(x), f32x4.splat(9.1)), f32x4.splat(-2));
  const n = f32x4.nearest(f32x4.mul(bounded, f32x4.splat(1.442695)));
  let r = f32x4.sub(bounded, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.add(r, f32x4.mul(n, f32x4.splat(2.1219444e-4)));
  let sum = f32x4.splat(1.98756915e-4);
  sum = multiplyAdd(sum, r, f32x4.splat(1.3981999507e-3));
  sum = multiplyAdd(sum, r, f32x4.splat(8.3334519073e-3));
  sum = multiplyAdd(sum, r, f32x4.splat(4.1665795894e-2));
  sum = multiplyAdd(sum, r, f32x4.splat(1.6666665459e-1));
  sum = multiplyAdd(sum, r, f32x4.splat(5.0000001201e-1));
  const rest = multiplyAdd(sum, f32x4.mul(r, r), r);
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  const e = multiplyAdd(rest, power, f32x4.sub(power, f32x4.splat(1)));
  const size = f32x4.neg(f32x4.div(e, f32x4.add(e, f32x4.splat(2))));
  return v128.bitselect(x, size, i32x4.splat(0x80000000));
}
