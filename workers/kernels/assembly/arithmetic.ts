/**
 * a·b + c in each lane. The deterministic build rounds twice, with the same result on every processor. The relaxed
 * build uses the processor's own instruction, which is faster, but its rounding depends on the kind of processor.
 */
export function multiplyAdd(a: v128, b: v128, c: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);
}

/**
 * a·b + c of single values with the rounding of {@link multiplyAdd}, so that a value's bits do not depend on its place
 * in an array.
 */
export function multiplyAddOne(a: f32, b: f32, c: f32): f32 {
  return f32x4.extract_lane(multiplyAdd(f32x4.splat(a), f32x4.splat(b), f32x4.splat(c)), 0);
}

/** Address of element `index` of float32 or int32 data at `base`. */
export function at(base: usize, index: i32): usize {
  return base + ((<usize>index) << 2);
}
