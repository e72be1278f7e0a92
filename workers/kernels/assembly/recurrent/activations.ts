import { multiplyAdd } from '../arithmetic';
import {
  binaryLogarithm,
  denominators,
  exponentials,
  half,
  hardSlope,
  leastExponent,
  leastTangent,
  minusLogarithm,
  minusLogarithmRest,
  mostExponent,
  mostTangent,
  numerators,
  one,
  rounder,
} from './coefficients';

/** Codes of activations, as in `workers/backends/wasm/recurrent/sequence.ts`. */
const relu: i32 = 1;
export const sigmoid: i32 = 2;
export const tanh: i32 = 3;
export const hardSigmoid: i32 = 4;

/** An activation of each lane; `table` is the address of the coefficients. An unknown code is the identity. */
export function activate(code: i32, x: v128, table: usize): v128 {
  return Activation.of(code, x, table);
}

/** The derivative of an activation in each lane, from its value y. */
export function slope(code: i32, y: v128, table: usize): v128 {
  return Activation.slope(code, y, table);
}

/** The same, compiled into their callers: for a constant code nothing is left of the choice. */
export class Activation {
  @inline
  static of(code: i32, x: v128, table: usize): v128 {
    if (code == sigmoid) return Activation.sigmoid(x, table);
    if (code == tanh) return Activation.tanh(x, table);
    if (code == relu) return f32x4.max(x, f32x4.splat(0));
    if (code == hardSigmoid) return Activation.hardSigmoid(x, table);
    return x;
  }

  @inline
  static slope(code: i32, y: v128, table: usize): v128 {
    const ones = v128.load32_splat(table, one);
    if (code == sigmoid) return f32x4.mul(y, f32x4.sub(ones, y));
    if (code == tanh) return f32x4.sub(ones, f32x4.mul(y, y));
    if (code == relu) return v128.and(ones, f32x4.lt(f32x4.splat(0), y));
    if (code == hardSigmoid) {
      const isBetween = v128.and(f32x4.lt(f32x4.splat(0), y), f32x4.lt(y, ones));
      return v128.and(v128.load32_splat(table, hardSlope), isBetween);
    }
    return ones;
  }

  /**
   * 1 / (1 + e⁻ˣ), within 3 ulp. e⁻ˣ is 2ⁿ times the polynomial of Cephes's expf; adding 1.5 · 2²³ rounds to n, whose
   * bits then lie where a shift makes them an exponent.
   */
  @inline
  private static sigmoid(x: v128, table: usize): v128 {
    const ones = v128.load32_splat(table, one);
    const least = v128.load32_splat(table, leastExponent);
    const most = v128.load32_splat(table, mostExponent);
    const bounded = f32x4.neg(f32x4.min(f32x4.max(x, least), most));
    const round = v128.load32_splat(table, rounder);
    const shifted = multiplyAdd(bounded, v128.load32_splat(table, binaryLogarithm), round);
    const n = f32x4.sub(shifted, round);
    let r = multiplyAdd(n, v128.load32_splat(table, minusLogarithm), bounded);
    r = multiplyAdd(n, v128.load32_splat(table, minusLogarithmRest), r);
    let sum = v128.load32_splat(table, exponentials);
    sum = multiplyAdd(sum, r, v128.load32_splat(table, exponentials + 4));
    sum = multiplyAdd(sum, r, v128.load32_splat(table, exponentials + 8));
    sum = multiplyAdd(sum, r, v128.load32_splat(table, exponentials + 12));
    sum = multiplyAdd(sum, r, v128.load32_splat(table, exponentials + 16));
    sum = multiplyAdd(sum, r, v128.load32_splat(table, exponentials + 20));
    sum = multiplyAdd(sum, f32x4.mul(r, r), f32x4.add(r, ones));
    // The bits of 1 are those of the exponent 0.
    const power = i32x4.add(i32x4.shl(shifted, 23), ones);
    return f32x4.div(ones, multiplyAdd(sum, power, ones));
  }

  /**
   * tanh x within 3 ulp, as the quotient of polynomials x P(x²) / Q(x²) that Eigen uses (`ptanh_float`), whose
   * arguments end at ±7.9.
   */
  @inline
  private static tanh(x: v128, table: usize): v128 {
    const least = v128.load32_splat(table, leastTangent);
    const most = v128.load32_splat(table, mostTangent);
    const bounded = f32x4.min(f32x4.max(x, least), most);
    const square = f32x4.mul(bounded, bounded);
    let p = v128.load32_splat(table, numerators);
    p = multiplyAdd(p, square, v128.load32_splat(table, numerators + 4));
    p = multiplyAdd(p, square, v128.load32_splat(table, numerators + 8));
    p = multiplyAdd(p, square, v128.load32_splat(table, numerators + 12));
    p = multiplyAdd(p, square, v128.load32_splat(table, numerators + 16));
    p = multiplyAdd(p, square, v128.load32_splat(table, numerators + 20));
    p = multiplyAdd(p, square, v128.load32_splat(table, numerators + 24));
    let q = v128.load32_splat(table, denominators);
    q = multiplyAdd(q, square, v128.load32_splat(table, denominators + 4));
    q = multiplyAdd(q, square, v128.load32_splat(table, denominators + 8));
    q = multiplyAdd(q, square, v128.load32_splat(table, denominators + 12));
    return f32x4.div(f32x4.mul(bounded, p), q);
  }

  @inline
  private static hardSigmoid(x: v128, table: usize): v128 {
    const line = multiplyAdd(x, v128.load32_splat(table, hardSlope), v128.load32_splat(table, half));
    return f32x4.min(f32x4.max(line, f32x4.splat(0)), v128.load32_splat(table, one));
  }
}
