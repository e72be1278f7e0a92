import { at } from '../arithmetic';

/**
 * Stochastic rounding of `size` values to packed bfloat16; `core/compression/stochastic-rounding.ts` has the formula,
 * and gives the same bits.
 */
export function packBfloat16(values: usize, size: i32, key: i32, words: usize): void {
  const whole = (size >> 1) & ~3;
  for (let j = 0; j < whole; j += 4) {
    const first = v128.load(at(values, 2 * j));
    const second = v128.load(at(values, 2 * j + 4));
    const random = randomWords(i32x4.add(i32x4.splat(j + 1), i32x4(0, 1, 2, 3)), key);
    const even = rounded(v128.shuffle<i32>(first, second, 0, 2, 4, 6), v128.and(random, i32x4.splat(0xffff)));
    const odd = rounded(v128.shuffle<i32>(first, second, 1, 3, 5, 7), i32x4.shr_u(random, 16));
    v128.store(at(words, j), v128.or(i32x4.shr_u(even, 16), v128.and(odd, i32x4.splat(0xffff0000))));
  }
  for (let j = whole; 2 * j < size; j++) {
    const random = randomWords(i32x4.splat(j + 1), key);
    const even = rounded(i32x4.splat(load<i32>(at(values, 2 * j))), v128.and(random, i32x4.splat(0xffff)));
    let word: i32 = i32x4.extract_lane(i32x4.shr_u(even, 16), 0);
    if (2 * j + 1 < size) {
      const odd = rounded(i32x4.splat(load<i32>(at(values, 2 * j + 1))), i32x4.shr_u(random, 16));
      word |= i32x4.extract_lane(odd, 0) & 0xffff0000;
    }
    store<i32>(at(words, j), word);
  }
}

/** The exact values of packed bfloat16. */
export function unpackBfloat16(words: usize, size: i32, values: usize): void {
  const whole = (size >> 1) & ~3;
  for (let j = 0; j < whole; j += 4) {
    const packed = v128.load(at(words, j));
    const even = i32x4.shl(packed, 16);
    const odd = v128.and(packed, i32x4.splat(0xffff0000));
    v128.store(at(values, 2 * j), v128.shuffle<i32>(even, odd, 0, 4, 1, 5));
    v128.store(at(values, 2 * j + 4), v128.shuffle<i32>(even, odd, 2, 6, 3, 7));
  }
  for (let i = 2 * whole; i < size; i++) {
    const word = load<i32>(at(words, i >> 1));
    store<i32>(at(values, i), i & 1 ? word & 0xffff0000 : word << 16);
  }
}

/** lowbias32 of the numbers of words, counted from 1. */
function randomWords(numbers: v128, key: i32): v128 {
  let x = v128.xor(i32x4.mul(numbers, i32x4.splat(0x9e3779b9)), i32x4.splat(key));
  x = i32x4.mul(v128.xor(x, i32x4.shr_u(x, 16)), i32x4.splat(0x7feb352d));
  x = i32x4.mul(v128.xor(x, i32x4.shr_u(x, 15)), i32x4.splat(0x846ca68b));
  return v128.xor(x, i32x4.shr_u(x, 16));
}

/** Bits whose upper halves are the results. */
function rounded(bits: v128, random: v128): v128 {
  const magnitude = v128.and(bits, i32x4.splat(0x7fffffff));
  const infinity = i32x4.splat(0x7f800000);
  const drawn = v128.and(random, i32x4.lt_s(magnitude, infinity));
  const quiet = v128.and(i32x4.splat(0x00400000), i32x4.gt_s(magnitude, infinity));
  return v128.or(i32x4.add(bits, drawn), quiet);
}
