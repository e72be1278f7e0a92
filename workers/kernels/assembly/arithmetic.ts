/**
 * a·b + c in each lane. The deterministic build rounds twice, as every processor does; the relaxed one leaves the rounding to the
 * processor, which is faster (one instruction), and equal only on processors of a kind.
 */
export function multiplyAdd(a: v128, b: v128, c: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);
}

/** Address of element `index` of float32 or int32 data at `base`. */
export function at(base: usize, index: i32): usize {
  return base + ((<usize>index) << 2);
}
