import { multiplyAdd } from '../arithmetic';

// The compiler's Math keeps tables in memory, but this memory belongs to TensorFlow.js.

/**
 * 1.5 · 2²³: a small number plus this is rounded to a whole number, which the low bits then hold. Converting by
 * `trunc_sat` takes six instructions.
 */
export const roundingShift: f32 = 12582912;

/** eˣ in each lane, within 2 ulp: Cody and Waite's reduction and the polynomial of Cephes's expf. */
export function exponential(x: v128): v128 {
  // pmax and pmin keep NaN, and are one instruction each.
  const bounded = f32x4.pmin(f32x4.pmax(x, f32x4.splat(-87.33654)), f32x4.splat(88.37626));
  const shifted = f32x4.add(f32x4.mul(bounded, f32x4.splat(1.442695)), f32x4.splat(roundingShift));
  const n = f32x4.sub(shifted, f32x4.splat(roundingShift));
  let r = f32x4.sub(bounded, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.add(r, f32x4.mul(n, f32x4.splat(2.1219444e-4)));
  let sum = f32x4.splat(1.98756915e-4);
  sum = multiplyAdd(sum, r, f32x4.splat(1.3981999507e-3));
  sum = multiplyAdd(sum, r, f32x4.splat(8.3334519073e-3));
  sum = multiplyAdd(sum, r, f32x4.splat(4.1665795894e-2));
  sum = multiplyAdd(sum, r, f32x4.splat(1.6666665459e-1));
  sum = multiplyAdd(sum, r, f32x4.splat(5.0000001201e-1));
  sum = f32x4.add(multiplyAdd(sum, f32x4.mul(r, r), r), f32x4.splat(1));
  const power = i32x4.shl(i32x4.add(shifted, i32x4.splat(127)), 23);
  const underflow = f32x4.lt(x, f32x4.splat(-87.33654));
  return v128.andnot(f32x4.mul(sum, power), underflow);
}

/** ln x within 1e-14, from the exponent and the mantissa m: the series of 2 artanh((m − 1) / (m + 1)). */
export function logarithm(x: f64): f64 {
  if (!(x > 0) || x == Infinity) return x == 0 ? -Infinity : x > 0 ? x : NaN;
  const bits = reinterpret<u64>(x);
  let exponent = <i32>(bits >> 52) - 1023;
  let mantissa = reinterpret<f64>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  if (mantissa > 1.4142135623730951) {
    mantissa /= 2;
    exponent += 1;
  }
  const t = (mantissa - 1) / (mantissa + 1);
  const square = t * t;
  let series: f64 = 1.0 / 17;
  series = series * square + 1.0 / 15;
  series = series * square + 1.0 / 13;
  series = series * square + 1.0 / 11;
  series = series * square + 1.0 / 9;
  series = series * square + 1.0 / 7;
  series = series * square + 1.0 / 5;
  series = series * square + 1.0 / 3;
  series = series * square + 1;
  return <f64>exponent * 0.6931471805599453 + 2 * t * series;
}
