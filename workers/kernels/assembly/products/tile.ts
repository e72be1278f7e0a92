import { multiplyAdd } from '../arithmetic';

/**
 * The inner loop of a matrix product: 6 x 8 sums of `depth` products of a packed panel of A and one of B (see
 * `pack.ts`), stored at `c` or, with `accumulate`, added to the values there. `step` is the distance between C's rows
 * in bytes. The two endings are separate, because V8 joins the stores of two neighbouring vectors only if there is no
 * branch between them.
 */
export function multiplyPanels(depth: i32, a: usize, b: usize, c: usize, step: usize, accumulate: bool): void {
  let c00 = f32x4.splat(0);
  let c01 = f32x4.splat(0);
  let c10 = f32x4.splat(0);
  let c11 = f32x4.splat(0);
  let c20 = f32x4.splat(0);
  let c21 = f32x4.splat(0);
  let c30 = f32x4.splat(0);
  let c31 = f32x4.splat(0);
  let c40 = f32x4.splat(0);
  let c41 = f32x4.splat(0);
  let c50 = f32x4.splat(0);
  let c51 = f32x4.splat(0);
  for (let p = 0; p < depth; p++) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const a0 = v128.load32_splat(a);
    c00 = multiplyAdd(a0, b0, c00);
    c01 = multiplyAdd(a0, b1, c01);
    const a1 = v128.load32_splat(a, 4);
    c10 = multiplyAdd(a1, b0, c10);
    c11 = multiplyAdd(a1, b1, c11);
    const a2 = v128.load32_splat(a, 8);
    c20 = multiplyAdd(a2, b0, c20);
    c21 = multiplyAdd(a2, b1, c21);
    const a3 = v128.load32_splat(a, 12);
    c30 = multiplyAdd(a3, b0, c30);
    c31 = multiplyAdd(a3, b1, c31);
    const a4 = v128.load32_splat(a, 16);
    c40 = multiplyAdd(a4, b0, c40);
    c41 = multiplyAdd(a4, b1, c41);
    const a5 = v128.load32_splat(a, 20);
    c50 = multiplyAdd(a5, b0, c50);
    c51 = multiplyAdd(a5, b1, c51);
    a += 24;
    b += 32;
  }
  if (accumulate) {
    addEight(c, c00, c01);
    addEight(c + step, c10, c11);
    addEight(c + 2 * step, c20, c21);
    addEight(c + 3 * step, c30, c31);
    addEight(c + 4 * step, c40, c41);
    addEight(c + 5 * step, c50, c51);
  } else {
    storeEight(c, c00, c01);
    storeEight(c + step, c10, c11);
    storeEight(c + 2 * step, c20, c21);
    storeEight(c + 3 * step, c30, c31);
    storeEight(c + 4 * step, c40, c41);
    storeEight(c + 5 * step, c50, c51);
  }
}

function storeEight(c: usize, low: v128, high: v128): void {
  v128.store(c, low);
  v128.store(c, high, 16);
}

function addEight(c: usize, low: v128, high: v128): void {
  const oldLow = v128.load(c);
  const oldHigh = v128.load(c, 16);
  v128.store(c, f32x4.add(oldLow, low));
  v128.store(c, f32x4.add(oldHigh, high), 16);
}
