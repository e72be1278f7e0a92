import { at } from './arithmetic';
import { addLow, addHigh, joinHalves } from './doubles';

/**
 * Sums over the middle axis of `outer x reduced x inner` values, times `scale`: one value for each of `outer x inner`.
 */
export function sumAxis(x: usize, outer: i32, reduced: i32, inner: i32, scale: f64, out: usize): void {
  for (let i = 0; i < outer; i++) {
    const from = at(x, i * reduced * inner);
    const to = at(out, i * inner);
    if (inner == 1) store<f32>(to, <f32>(sumRow(from, reduced) * scale));
    else sumColumns(from, reduced, inner, scale, to);
  }
}

/**
 * Size of a block that is summed in float32, in rows or in values of one row. Sums of blocks are added in float64, so
 * that long sums lose no digits.
 */
export const blockRows: i32 = 64;
export const blockValues: i32 = 256;

/** Sums a row: each block in eight partial sums, which are then added in order. */
export function sumRow(row: usize, size: i32): f64 {
  let total = f64x2.splat(0);
  const whole = size & ~7;
  for (let first = 0; first < whole; first += blockValues) {
    let low = f32x4.splat(0);
    let high = f32x4.splat(0);
    const end = min(whole, first + blockValues);
    for (let i = first; i < end; i += 8) {
      low = f32x4.add(low, v128.load(at(row, i)));
      high = f32x4.add(high, v128.load(at(row, i + 4)));
    }
    const four = f32x4.add(low, high);
    total = addHigh(addLow(total, four), four);
  }
  let sum = f64x2.extract_lane(total, 0) + f64x2.extract_lane(total, 1);
  for (let i = whole; i < size; i++) sum += <f64>load<f32>(at(row, i));
  return sum;
}

/** Sums the columns of `rows x columns` values, sixteen at a time: each row's part is one cache line. */
function sumColumns(x: usize, rows: i32, columns: i32, scale: f64, out: usize): void {
  let j = 0;
  for (; j + 16 <= columns; j += 16) sumSixteen(at(x, j), rows, columns, scale, at(out, j));
  for (; j + 4 <= columns; j += 4) sumFour(at(x, j), rows, columns, scale, at(out, j));
  for (; j < columns; j++) {
    let sum: f64 = 0;
    for (let i = 0; i < rows; i++) sum += <f64>load<f32>(at(x, i * columns + j));
    store<f32>(at(out, j), <f32>(sum * scale));
  }
}

function sumSixteen(x: usize, rows: i32, columns: i32, scale: f64, out: usize): void {
  let lowA = f64x2.splat(0);
  let highA = lowA;
  let lowB = lowA;
  let highB = lowA;
  let lowC = lowA;
  let highC = lowA;
  let lowD = lowA;
  let highD = lowA;
  for (let first = 0; first < rows; first += blockRows) {
    const end = min(rows, first + blockRows);
    let a = f32x4.splat(0);
    let b = a;
    let c = a;
    let d = a;
    for (let i = first; i < end; i++) {
      const row = at(x, i * columns);
      a = f32x4.add(a, v128.load(row));
      b = f32x4.add(b, v128.load(row, 16));
      c = f32x4.add(c, v128.load(row, 32));
      d = f32x4.add(d, v128.load(row, 48));
    }
    lowA = addLow(lowA, a);
    highA = addHigh(highA, a);
    lowB = addLow(lowB, b);
    highB = addHigh(highB, b);
    lowC = addLow(lowC, c);
    highC = addHigh(highC, c);
    lowD = addLow(lowD, d);
    highD = addHigh(highD, d);
  }
  v128.store(out, joinHalves(lowA, highA, scale));
  v128.store(out, joinHalves(lowB, highB, scale), 16);
  v128.store(out, joinHalves(lowC, highC, scale), 32);
  v128.store(out, joinHalves(lowD, highD, scale), 48);
}

function sumFour(x: usize, rows: i32, columns: i32, scale: f64, out: usize): void {
  let low = f64x2.splat(0);
  let high = low;
  for (let first = 0; first < rows; first += blockRows) {
    const end = min(rows, first + blockRows);
    let sum = f32x4.splat(0);
    for (let i = first; i < end; i++) sum = f32x4.add(sum, v128.load(at(x, i * columns)));
    low = addLow(low, sum);
    high = addHigh(high, sum);
  }
  v128.store(out, joinHalves(low, high, scale));
}

/** The largest value over the middle axis; NaN if any value is NaN. */
export function maxAxis(x: usize, outer: i32, reduced: i32, inner: i32, out: usize): void {
  const whole = inner & ~3;
  for (let i = 0; i < outer; i++) {
    const from = at(x, i * reduced * inner);
    const to = at(out, i * inner);
    for (let j = 0; j < whole; j += 4) {
      let most = f32x4.splat(-Infinity);
      for (let p = 0; p < reduced; p++) most = f32x4.max(most, v128.load(at(from, p * inner + j)));
      v128.store(at(to, j), most);
    }
    for (let j = whole; j < inner; j++) {
      let most: f32 = -Infinity;
      for (let p = 0; p < reduced; p++) most = max(most, load<f32>(at(from, p * inner + j)));
      store<f32>(at(to, j), most);
    }
  }
}
