import { multiplyAdd } from '../arithmetic';
import { exponential } from '../elementwise/elementary';

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

/** 1 / (1 + e⁻ˣ) */
function sigmoidOf(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, exponential(f32x4.neg(x))));
}

/** tanh x: near 0 the polynomial of Cephes's tanhf, which keeps small values exact, else 1 − 2 / (e²ˣ + 1). */
function tanhOf(x: v128): v128 {
  const one = f32x4.splat(1);
  const far = f32x4.sub(one, f32x4.div(f32x4.splat(2), f32x4.add(one, exponential(f32x4.add(x, x)))));
  const square = f32x4.mul(x, x);
  let sum = f32x4.splat(-5.70498872745e-3);
  sum = multiplyAdd(sum, square, f32x4.splat(2.06390887954e-2));
  sum = multiplyAdd(sum, square, f32x4.splat(-5.37397155531e-2));
  sum = multiplyAdd(sum, square, f32x4.splat(1.33314422036e-1));
  sum = multiplyAdd(sum, square, f32x4.splat(-3.33332819422e-1));
  const near = multiplyAdd(f32x4.mul(sum, square), x, x);
  return v128.bitselect(near, far, f32x4.lt(f32x4.abs(x), f32x4.splat(0.625)));
}

function clip(x: v128): v128 {
  return f32x4.min(f32x4.max(x, f32x4.splat(0)), f32x4.splat(1));
}
