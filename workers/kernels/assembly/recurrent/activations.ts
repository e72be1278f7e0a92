import { multiplyAdd } from '../arithmetic';

/** Codes of activations, as in `workers/backends/wasm/kernels/recurrent.ts`. */
const relu: i32 = 1;
const sigmoid: i32 = 2;
const tanh: i32 = 3;
const hardSigmoid: i32 = 4;

/** An activation of each lane. An unknown code is the identity. */
export function activate(code: i32, x: v128): v128 {
  if (code == sigmoid) return sigmoidOf(x);
  if (code == tanh) return tanhOf(x);
  if (code == relu) return f32x4.max(x, f32x4.splat(0));
  if (code == hardSigmoid) return clip(multiplyAdd(x, f32x4.splat(0.2), f32x4.splat(0.5)));
  return x;
}

/** The derivative of an activation in each lane, from its value y. */
export function slope(code: i32, y: v128): v128 {
  const one = f32x4.splat(1);
  if (code == sigmoid) return f32x4.mul(y, f32x4.sub(one, y));
  if (code == tanh) return f32x4.sub(one, f32x4.mul(y, y));
  if (code == relu) return v128.and(one, f32x4.gt(y, f32x4.splat(0)));
  if (code == hardSigmoid) {
    return v128.and(f32x4.splat(0.2), v128.and(f32x4.gt(y, f32x4.splat(0)), f32x4.lt(y, one)));
  }
  return one;
}

/**
 * 1 / (1 + e⁻ˣ), within 3 ulp. e⁻ˣ is 2ⁿ times the polynomial of Cephes's expf; adding 1.5 · 2²³ rounds to n, whose bits then lie where a shift makes
 * them an exponent.
 */
function sigmoidOf(x: v128): v128 {
  const one = f32x4.splat(1);
  const bounded = f32x4.neg(f32x4.min(f32x4.max(x, f32x4.splat(-87)), f32x4.splat(87)));
  const shifted = multiplyAdd(bounded, f32x4.splat(1.442695), f32x4.splat(12582912));
  const n = f32x4.sub(shifted, f32x4.splat(12582912));
  let r = multiplyAdd(n, f32x4.splat(-0.693359375), bounded);
  r = multiplyAdd(n, f32x4.splat(2.1219444e-4), r);
  let sum = f32x4.splat(1.98756915e-4);
  sum = multiplyAdd(sum, r, f32x4.splat(1.3981999507e-3));
  sum = multiplyAdd(sum, r, f32x4.splat(8.3334519073e-3));
  sum = multiplyAdd(sum, r, f32x4.splat(4.1665795894e-2));
  sum = multiplyAdd(sum, r, f32x4.splat(1.6666665459e-1));
  sum = multiplyAdd(sum, r, f32x4.splat(5.0000001201e-1));
  sum = multiplyAdd(sum, f32x4.mul(r, r), f32x4.add(r, one));
  const power = i32x4.add(i32x4.shl(shifted, 23), i32x4.splat(0x3f800000));
  return f32x4.div(one, multiplyAdd(sum, power, one));
}

/** tanh x within 3 ulp, as the quotient of polynomials x P(x²) / Q(x²) that Eigen uses (`ptanh_float`), whose arguments end at ±7.9. */
function tanhOf(x: v128): v128 {
  const bounded = f32x4.min(f32x4.max(x, f32x4.splat(-7.90531110763549805)), f32x4.splat(7.90531110763549805));
  const square = f32x4.mul(bounded, bounded);
  let p = f32x4.splat(-2.76076847742355e-16);
  p = multiplyAdd(p, square, f32x4.splat(2.00018790482477e-13));
  p = multiplyAdd(p, square, f32x4.splat(-8.60467152213735e-11));
  p = multiplyAdd(p, square, f32x4.splat(5.12229709037114e-8));
  p = multiplyAdd(p, square, f32x4.splat(1.48572235717979e-5));
  p = multiplyAdd(p, square, f32x4.splat(6.37261928875436e-4));
  p = multiplyAdd(p, square, f32x4.splat(4.89352455891786e-3));
  let q = f32x4.splat(1.19825839466702e-6);
  q = multiplyAdd(q, square, f32x4.splat(1.18534705686654e-4));
  q = multiplyAdd(q, square, f32x4.splat(2.268434632439e-3));
  q = multiplyAdd(q, square, f32x4.splat(4.89352518554385e-3));
  return f32x4.div(f32x4.mul(bounded, p), q);
}

function clip(x: v128): v128 {
  return f32x4.min(f32x4.max(x, f32x4.splat(0)), f32x4.splat(1));
}
