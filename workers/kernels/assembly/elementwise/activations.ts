import { at, multiplyAdd } from '../arithmetic';
import { exponential, roundingShift } from './elementary';

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
  const bounded = f32x4.mul(f32x4.pmin(f32x4.abs(x), f32x4.splat(9.1)), f32x4.splat(-2));
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
  const rest = multiplyAdd(sum, f32x4.mul(r, r), r);
  const power = i32x4.shl(i32x4.add(shifted, i32x4.splat(127)), 23);
  const e = multiplyAdd(rest, power, f32x4.sub(power, f32x4.splat(1)));
  const size = f32x4.neg(f32x4.div(e, f32x4.add(e, f32x4.splat(2))));
  return v128.bitselect(x, size, i32x4.splat(0x80000000));
}

/**
 * y ← x Φ(x), GELU with the normal distribution's Φ, and slope ← Φ(x) + x φ(x), which share an exponential. Φ is right
 * within 1e-7: the rational approximation 7.1.26 of Abramowitz and Stegun of its tail.
 */
export function gelu(x: usize, size: i32, y: usize, slope: usize): void {
  const whole = size & ~3;
  for (let i = 0; i < whole; i += 4) {
    const value = v128.load(at(x, i));
    const bell = bellOf(value);
    const share = normalDistribution(value, bell);
    v128.store(at(y, i), f32x4.mul(value, share));
    v128.store(at(slope, i), slopeOfGelu(value, bell, share));
  }
  for (let i = whole; i < size; i++) {
    const value = f32x4.splat(load<f32>(at(x, i)));
    const bell = bellOf(value);
    const share = normalDistribution(value, bell);
    store<f32>(at(y, i), f32x4.extract_lane(f32x4.mul(value, share), 0));
    store<f32>(at(slope, i), f32x4.extract_lane(slopeOfGelu(value, bell, share), 0));
  }
}

function slopeOfGelu(x: v128, bell: v128, share: v128): v128 {
  return multiplyAdd(f32x4.mul(x, f32x4.splat(0.3989423)), bell, share);
}

/** exp(−x² / 2) */
function bellOf(x: v128): v128 {
  return exponential(f32x4.mul(f32x4.mul(x, x), f32x4.splat(-0.5)));
}

function normalDistribution(x: v128, bell: v128): v128 {
  const one = f32x4.splat(1);
  // 0.3275911 / √2
  const t = f32x4.div(one, multiplyAdd(f32x4.abs(x), f32x4.splat(0.23164189), one));
  let sum = f32x4.splat(1.061405429);
  sum = multiplyAdd(sum, t, f32x4.splat(-1.453152027));
  sum = multiplyAdd(sum, t, f32x4.splat(1.421413741));
  sum = multiplyAdd(sum, t, f32x4.splat(-0.284496736));
  sum = multiplyAdd(sum, t, f32x4.splat(0.254829592));
  const tail = f32x4.mul(f32x4.splat(0.5), f32x4.mul(f32x4.mul(sum, t), bell));
  return v128.bitselect(f32x4.sub(one, tail), tail, f32x4.ge(x, f32x4.splat(0)));
}

/** y ← x σ(x), swish or SiLU, and slope ← σ(x) + x σ(x) (1 − σ(x)) */
export function swish(x: usize, size: i32, y: usize, slope: usize): void {
  const whole = size & ~3;
  for (let i = 0; i < whole; i += 4) {
    const value = v128.load(at(x, i));
    const share = logistic(value);
    const product = f32x4.mul(value, share);
    v128.store(at(y, i), product);
    v128.store(at(slope, i), multiplyAdd(product, f32x4.sub(f32x4.splat(1), share), share));
  }
  for (let i = whole; i < size; i++) {
    const value = f32x4.splat(load<f32>(at(x, i)));
    const share = logistic(value);
    const product = f32x4.mul(value, share);
    store<f32>(at(y, i), f32x4.extract_lane(product, 0));
    const slopes = multiplyAdd(product, f32x4.sub(f32x4.splat(1), share), share);
    store<f32>(at(slope, i), f32x4.extract_lane(slopes, 0));
  }
}

function logistic(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, exponential(f32x4.neg(x))));
}
