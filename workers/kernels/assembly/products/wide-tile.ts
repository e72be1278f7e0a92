import { at, multiplyAdd } from '../arithmetic';
import { panelColumns } from './pack';

/**
 * Like `multiplyPanels`, but with two panels of B side by side: 6 x 16 sums. They fill 12 registers if V8 joins two
 * neighbouring 128-bit instructions to a 256-bit one; otherwise they do not fit the registers, and the narrow tile is
 * faster.
 */
export function multiplyPanelPairs(depth: i32, a: usize, b: usize, c: usize, step: usize, accumulate: bool): void {
  let d = at(b, panelColumns * depth);
  let c00 = f32x4.splat(0);
  let c01 = f32x4.splat(0);
  let c02 = f32x4.splat(0);
  let c03 = f32x4.splat(0);
  let c10 = f32x4.splat(0);
  let c11 = f32x4.splat(0);
  let c12 = f32x4.splat(0);
  let c13 = f32x4.splat(0);
  let c20 = f32x4.splat(0);
  let c21 = f32x4.splat(0);
  let c22 = f32x4.splat(0);
  let c23 = f32x4.splat(0);
  let c30 = f32x4.splat(0);
  let c31 = f32x4.splat(0);
  let c32 = f32x4.splat(0);
  let c33 = f32x4.splat(0);
  let c40 = f32x4.splat(0);
  let c41 = f32x4.splat(0);
  let c42 = f32x4.splat(0);
  let c43 = f32x4.splat(0);
  let c50 = f32x4.splat(0);
  let c51 = f32x4.splat(0);
  let c52 = f32x4.splat(0);
  let c53 = f32x4.splat(0);
  for (let p = 0; p < depth; p++) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const b2 = v128.load(d);
    const b3 = v128.load(d, 16);
    const a0 = v128.load32_splat(a);
    c00 = multiplyAdd(a0, b0, c00);
    c01 = multiplyAdd(a0, b1, c01);
    c02 = multiplyAdd(a0, b2, c02);
    c03 = multiplyAdd(a0, b3, c03);
    const a1 = v128.load32_splat(a, 4);
    c10 = multiplyAdd(a1, b0, c10);
    c11 = multiplyAdd(a1, b1, c11);
    c12 = multiplyAdd(a1, b2, c12);
    c13 = multiplyAdd(a1, b3, c13);
    const a2 = v128.load32_splat(a, 8);
    c20 = multiplyAdd(a2, b0, c20);
    c21 = multiplyAdd(a2, b1, c21);
    c22 = multiplyAdd(a2, b2, c22);
    c23 = multiplyAdd(a2, b3, c23);
    const a3 = v128.load32_splat(a, 12);
    c30 = multiplyAdd(a3, b0, c30);
    c31 = multiplyAdd(a3, b1, c31);
    c32 = multiplyAdd(a3, b2, c32);
    c33 = multiplyAdd(a3, b3, c33);
    const a4 = v128.load32_splat(a, 16);
    c40 = multiplyAdd(a4, b0, c40);
    c41 = multiplyAdd(a4, b1, c41);
    c42 = multiplyAdd(a4, b2, c42);
    c43 = multiplyAdd(a4, b3, c43);
    const a5 = v128.load32_splat(a, 20);
    c50 = multiplyAdd(a5, b0, c50);
    c51 = multiplyAdd(a5, b1, c51);
    c52 = multiplyAdd(a5, b2, c52);
    c53 = multiplyAdd(a5, b3, c53);
    a += 24;
    b += 32;
    d += 32;
  }
  if (accumulate) {
    addSixteen(c, c00, c01, c02, c03);
    addSixteen(c + step, c10, c11, c12, c13);
    addSixteen(c + 2 * step, c20, c21, c22, c23);
    addSixteen(c + 3 * step, c30, c31, c32, c33);
    addSixteen(c + 4 * step, c40, c41, c42, c43);
    addSixteen(c + 5 * step, c50, c51, c52, c53);
  } else {
    storeSixteen(c, c00, c01, c02, c03);
    storeSixteen(c + step, c10, c11, c12, c13);
    storeSixteen(c + 2 * step, c20, c21, c22, c23);
    storeSixteen(c + 3 * step, c30, c31, c32, c33);
    storeSixteen(c + 4 * step, c40, c41, c42, c43);
    storeSixteen(c + 5 * step, c50, c51, c52, c53);
  }
}

function storeSixteen(c: usize, first: v128, second: v128, third: v128, fourth: v128): void {
  v128.store(c, first);
  v128.store(c, second, 16);
  v128.store(c, third, 32);
  v128.store(c, fourth, 48);
}

/** Loads everything before storing: a store between the loads would keep V8 from joining them. */
function addSixteen(c: usize, first: v128, second: v128, third: v128, fourth: v128): void {
  const old0 = v128.load(c);
  const old1 = v128.load(c, 16);
  const old2 = v128.load(c, 32);
  const old3 = v128.load(c, 48);
  storeSixteen(c, f32x4.add(old0, first), f32x4.add(old1, second), f32x4.add(old2, third), f32x4.add(old3, fourth));
}
