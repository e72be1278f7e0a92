import { at, multiplyAdd, multiplyAddOne } from './arithmetic';
import { addHigh, addLow, addToDoubles, roundDoubles } from './doubles';
import { clear } from './rows';
import { blockRows, blockValues, sumRow } from './reductions';

/**
 * Layer normalization of `rows x columns` values: y = γ s (x − μ) + β with a row's mean μ and s = 1/√(σ² + ε), its
 * biased variance being σ². Keeps μ and s of each row. γ and β have one value per column.
 */
export function normalizeRows(
  x: usize,
  rows: i32,
  columns: i32,
  gamma: usize,
  beta: usize,
  epsilon: f64,
  mean: usize,
  inverse: usize,
  y: usize,
): void {
  for (let i = 0; i < rows; i++) {
    const row = at(x, i * columns);
    const center = <f32>(sumRow(row, columns) / <f64>columns);
    const variance = sumSquares(row, columns, center) / <f64>columns;
    const factor = <f32>(1 / sqrt<f64>(variance + epsilon));
    store<f32>(at(mean, i), center);
    store<f32>(at(inverse, i), factor);
    scaleRow(row, columns, center, factor, gamma, beta, at(y, i * columns));
  }
}

/** Σ (x − center)² of a row, in blocks of float32 that are added in float64. */
function sumSquares(row: usize, size: i32, center: f32): f64 {
  const centers = f32x4.splat(center);
  const whole = size & ~7;
  let total = f64x2.splat(0);
  for (let first = 0; first < whole; first += blockValues) {
    let low = f32x4.splat(0);
    let high = f32x4.splat(0);
    const end = min(whole, first + blockValues);
    for (let j = first; j < end; j += 8) {
      const a = f32x4.sub(v128.load(at(row, j)), centers);
      const b = f32x4.sub(v128.load(at(row, j), 16), centers);
      low = multiplyAdd(a, a, low);
      high = multiplyAdd(b, b, high);
    }
    const four = f32x4.add(low, high);
    total = addHigh(addLow(total, four), four);
  }
  let sum = f64x2.extract_lane(total, 0) + f64x2.extract_lane(total, 1);
  for (let j = whole; j < size; j++) {
    const difference = <f64>(load<f32>(at(row, j)) - center);
    sum += difference * difference;
  }
  return sum;
}

/** y ← γ · ((x − center) · factor) + β */
function scaleRow(x: usize, size: i32, center: f32, factor: f32, gamma: usize, beta: usize, y: usize): void {
  const centers = f32x4.splat(center);
  const factors = f32x4.splat(factor);
  const whole = size & ~3;
  for (let j = 0; j < whole; j += 4) {
    const normed = f32x4.mul(f32x4.sub(v128.load(at(x, j)), centers), factors);
    v128.store(at(y, j), multiplyAdd(normed, v128.load(at(gamma, j)), v128.load(at(beta, j))));
  }
  for (let j = whole; j < size; j++) {
    const normed = (load<f32>(at(x, j)) - center) * factor;
    store<f32>(at(y, j), multiplyAddOne(normed, load<f32>(at(gamma, j)), load<f32>(at(beta, j))));
  }
}

/**
 * The gradients of {@link normalizeRows}. With n = s (x − μ) and g = γ dy: dx = s (g − mean(g) − n mean(g n)) with the
 * means of a row, dγ = Σ dy n and dβ = Σ dy over the rows. `scratch` has space for six values per column.
 */
export function normalizeRowsGradient(
  x: usize,
  dy: usize,
  rows: i32,
  columns: i32,
  gamma: usize,
  mean: usize,
  inverse: usize,
  dx: usize,
  dGamma: usize,
  dBeta: usize,
  scratch: usize,
): void {
  const ofGamma = scratch;
  const ofBeta = at(scratch, columns);
  const allOfGamma = at(scratch, 2 * columns);
  const allOfBeta = at(scratch, 4 * columns);
  clear(allOfGamma, 4 * columns);
  for (let first = 0; first < rows; first += blockRows) {
    clear(scratch, 2 * columns);
    const last = min(rows, first + blockRows);
    for (let i = first; i < last; i++) {
      const row = at(x, i * columns);
      const slopes = at(dy, i * columns);
      const center = load<f32>(at(mean, i));
      const factor = load<f32>(at(inverse, i));
      const shift = sumSlopes(slopes, columns, gamma, ofBeta) / <f64>columns;
      const tilt = sumProducts(row, slopes, columns, center, factor, gamma, ofGamma) / <f64>columns;
      combineRow(row, slopes, columns, center, factor, gamma, <f32>shift, <f32>tilt, at(dx, i * columns));
    }
    addToDoubles(allOfGamma, ofGamma, columns);
    addToDoubles(allOfBeta, ofBeta, columns);
  }
  roundDoubles(allOfGamma, 1, dGamma, columns);
  roundDoubles(allOfBeta, 1, dBeta, columns);
}

/** Σ γ dy of a row, whose dy is added to `ofBeta`. */
function sumSlopes(dy: usize, size: i32, gamma: usize, ofBeta: usize): f64 {
  const whole = size & ~3;
  let total = f64x2.splat(0);
  for (let first = 0; first < whole; first += blockValues) {
    let four = f32x4.splat(0);
    const end = min(whole, first + blockValues);
    for (let j = first; j < end; j += 4) {
      const slope = v128.load(at(dy, j));
      four = f32x4.add(four, f32x4.mul(slope, v128.load(at(gamma, j))));
      v128.store(at(ofBeta, j), f32x4.add(v128.load(at(ofBeta, j)), slope));
    }
    total = addHigh(addLow(total, four), four);
  }
  let sum = f64x2.extract_lane(total, 0) + f64x2.extract_lane(total, 1);
  for (let j = whole; j < size; j++) {
    const slope = load<f32>(at(dy, j));
    sum += <f64>(slope * load<f32>(at(gamma, j)));
    store<f32>(at(ofBeta, j), load<f32>(at(ofBeta, j)) + slope);
  }
  return sum;
}

/** Σ γ dy n of a row, whose dy n is added to `ofGamma`. */
function sumProducts(x: usize, dy: usize, size: i32, center: f32, factor: f32, gamma: usize, ofGamma: usize): f64 {
  const factors = f32x4.splat(factor);
  const whole = size & ~3;
  let total = f64x2.splat(0);
  for (let first = 0; first < whole; first += blockValues) {
    let four = f32x4.splat(0);
    const end = min(whole, first + blockValues);
    for (let j = first; j < end; j += 4) {
      const slope = v128.load(at(dy, j));
      const normed = f32x4.mul(f32x4.sub(v128.load(at(x, j)), f32x4.splat(center)), factors);
      four = multiplyAdd(f32x4.mul(slope, v128.load(at(gamma, j))), normed, four);
      v128.store(at(ofGamma, j), multiplyAdd(slope, normed, v128.load(at(ofGamma, j))));
    }
    total = addHigh(addLow(total, four), four);
  }
  let sum = f64x2.extract_lane(total, 0) + f64x2.extract_lane(total, 1);
  for (let j = whole; j < size; j++) {
    const slope = load<f32>(at(dy, j));
    const normed = (load<f32>(at(x, j)) - center) * factor;
    sum += <f64>(slope * load<f32>(at(gamma, j))) * <f64>normed;
    store<f32>(at(ofGamma, j), multiplyAddOne(slope, normed, load<f32>(at(ofGamma, j))));
  }
  return sum;
}

/** dx ← factor · (γ dy − shift − n · tilt) */
function combineRow(
  x: usize,
  dy: usize,
  size: i32,
  center: f32,
  factor: f32,
  gamma: usize,
  shift: f32,
  tilt: f32,
  dx: usize,
): void {
  const factors = f32x4.splat(factor);
  const whole = size & ~3;
  for (let j = 0; j < whole; j += 4) {
    const normed = f32x4.mul(f32x4.sub(v128.load(at(x, j)), f32x4.splat(center)), factors);
    const centered = f32x4.sub(f32x4.mul(v128.load(at(dy, j)), v128.load(at(gamma, j))), f32x4.splat(shift));
    v128.store(at(dx, j), f32x4.mul(multiplyAdd(normed, f32x4.splat(-tilt), centered), factors));
  }
  for (let j = whole; j < size; j++) {
    const normed = (load<f32>(at(x, j)) - center) * factor;
    const centered = load<f32>(at(dy, j)) * load<f32>(at(gamma, j)) - shift;
    store<f32>(at(dx, j), multiplyAddOne(normed, -tilt, centered) * factor);
  }
}
