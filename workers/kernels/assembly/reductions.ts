import { at } from './arithmetic';

/** Sums over the middle axis of `outer x reduced x inner` values, times `scale`: one value for each of `outer x inner`. */
export function sumAxis(x: usize, outer: i32, reduced: i32, inner: i32, scale: f32, out: usize): void {
  for (let i = 0; i < outer; i++) {
    const from = at(x, i * reduced * inner);
    const to = at(out, i * inner);
    if (inner == 1) store<f32>(to, sumRow(from, reduced) * scale);
    else sumColumns(from, reduced, inner, scale, to);
  }
}

/** In eight partial sums, then these in order. */
function sumRow(row: usize, size: i32): f32 {
  let low = f32x4.splat(0);
  let high = f32x4.splat(0);
  const whole = size & ~7;
  for (let i = 0; i < whole; i += 8) {
    low = f32x4.add(low, v128.load(at(row, i)));
    high = f32x4.add(high, v128.load(at(row, i + 4)));
  }
  const four = f32x4.add(low, high);
  let sum =
    f32x4.extract_lane(four, 0) +
    f32x4.extract_lane(four, 1) +
    (f32x4.extract_lane(four, 2) + f32x4.extract_lane(four, 3));
  for (let i = whole; i < size; i++) sum += load<f32>(at(row, i));
  return sum;
}

/** Columns of `rows x columns` values, sixteen at a time: each row's part is one line of the cache. */
function sumColumns(x: usize, rows: i32, columns: i32, scale: f32, out: usize): void {
  const factor = f32x4.splat(scale);
  let j = 0;
  for (; j + 16 <= columns; j += 16) {
    let a = f32x4.splat(0);
    let b = a;
    let c = a;
    let d = a;
    for (let i = 0; i < rows; i++) {
      const row = at(x, i * columns + j);
      a = f32x4.add(a, v128.load(row));
      b = f32x4.add(b, v128.load(row, 16));
      c = f32x4.add(c, v128.load(row, 32));
      d = f32x4.add(d, v128.load(row, 48));
    }
    v128.store(at(out, j), f32x4.mul(a, factor));
    v128.store(at(out, j), f32x4.mul(b, factor), 16);
    v128.store(at(out, j), f32x4.mul(c, factor), 32);
    v128.store(at(out, j), f32x4.mul(d, factor), 48);
  }
  for (; j + 4 <= columns; j += 4) {
    let a = f32x4.splat(0);
    for (let i = 0; i < rows; i++) a = f32x4.add(a, v128.load(at(x, i * columns + j)));
    v128.store(at(out, j), f32x4.mul(a, factor));
  }
  for (; j < columns; j++) {
    let sum: f32 = 0;
    for (let i = 0; i < rows; i++) sum += load<f32>(at(x, i * columns + j));
    store<f32>(at(out, j), sum * scale);
  }
}

/** The largest over the middle axis; NaN where one is. */
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
