import { at, multiplyAdd } from './arithmetic';
import { addToDoubles, roundDoubles } from './doubles';
import { addTo, clear } from './rows';

/** Rows of a block, which is summed in float32. It fits the second-level cache if rows have at most 1,000 values. */
const blockRows: i32 = 64;

/**
 * Mean and biased variance of each column of `rows x columns` values, in one pass: the moments of blocks are merged in
 * order, in float64 (Chan, Golub and LeVeque, 1983). Rows are `step` values apart. `scratch` has space for six values
 * per column.
 */
export function columnMoments(
  x: usize,
  rows: i32,
  columns: i32,
  step: i32,
  mean: usize,
  variance: usize,
  scratch: usize,
): void {
  const blockMean = scratch;
  const blockSquares = at(scratch, columns);
  const means = at(scratch, 2 * columns);
  const squares = at(scratch, 4 * columns);
  clear(means, 4 * columns);
  for (let first = 0; first < rows; first += blockRows) {
    const count = min(blockRows, rows - first);
    const block = at(x, first * step);
    clear(blockMean, 2 * columns);
    for (let i = 0; i < count; i++) addTo(blockMean, at(block, i * step), columns);
    mergeMeans(blockMean, means, squares, columns, first, count);
    for (let i = 0; i < count; i++) addSquares(blockSquares, at(block, i * step), blockMean, columns);
    addToDoubles(squares, blockSquares, columns);
  }
  roundDoubles(means, 1, mean, columns);
  roundDoubles(squares, 1 / <f64>rows, variance, columns);
}

/**
 * Merges a block of `count` rows into the moments of the `seen` rows before it. Turns the sums in `blockMean` into
 * means, and updates `means` and the sums of squares, both in float64.
 */
function mergeMeans(blockMean: usize, means: usize, squares: usize, columns: i32, seen: i32, count: i32): void {
  const share = <f64>count / <f64>(seen + count);
  for (let j = 0; j < columns; j++) {
    const offset = (<usize>j) << 3;
    const ofBlock = <f64>load<f32>(at(blockMean, j)) / <f64>count;
    const difference = ofBlock - load<f64>(means + offset);
    store<f32>(at(blockMean, j), <f32>ofBlock);
    store<f64>(means + offset, load<f64>(means + offset) + difference * share);
    store<f64>(squares + offset, load<f64>(squares + offset) + difference * difference * share * <f64>seen);
  }
}

/** squares ← squares + (x − center)² */
function addSquares(squares: usize, x: usize, center: usize, columns: i32): void {
  const whole = columns & ~3;
  for (let j = 0; j < whole; j += 4) {
    const difference = f32x4.sub(v128.load(at(x, j)), v128.load(at(center, j)));
    v128.store(at(squares, j), multiplyAdd(difference, difference, v128.load(at(squares, j))));
  }
  for (let j = whole; j < columns; j++) {
    const difference = load<f32>(at(x, j)) - load<f32>(at(center, j));
    store<f32>(at(squares, j), load<f32>(at(squares, j)) + difference * difference);
  }
}

/** y ← x · factor + shift, with one factor and one shift per column. */
export function scaleColumns(x: usize, rows: i32, columns: i32, factor: usize, shift: usize, y: usize): void {
  const whole = columns & ~3;
  for (let i = 0; i < rows; i++) {
    const from = at(x, i * columns);
    const to = at(y, i * columns);
    for (let j = 0; j < whole; j += 4) {
      const scaled = multiplyAdd(v128.load(at(from, j)), v128.load(at(factor, j)), v128.load(at(shift, j)));
      v128.store(at(to, j), scaled);
    }
    for (let j = whole; j < columns; j++) {
      store<f32>(at(to, j), load<f32>(at(from, j)) * load<f32>(at(factor, j)) + load<f32>(at(shift, j)));
    }
  }
}

/**
 * Sums of each column of dy, and of dy · (x − center). Rows are `step` values apart. `scratch` has space for six values
 * per column.
 */
export function columnSlopes(
  x: usize,
  dy: usize,
  rows: i32,
  columns: i32,
  step: i32,
  center: usize,
  sum: usize,
  product: usize,
  scratch: usize,
): void {
  const blockProduct = at(scratch, columns);
  const sums = at(scratch, 2 * columns);
  const products = at(scratch, 4 * columns);
  clear(sums, 4 * columns);
  for (let first = 0; first < rows; first += blockRows) {
    clear(scratch, 2 * columns);
    const last = min(rows, first + blockRows);
    for (let i = first; i < last; i++)
      addSlopes(at(x, i * step), at(dy, i * step), center, columns, scratch, blockProduct);
    addToDoubles(sums, scratch, columns);
    addToDoubles(products, blockProduct, columns);
  }
  roundDoubles(sums, 1, sum, columns);
  roundDoubles(products, 1, product, columns);
}

/** Adds a row's dy to `sum`, and dy · (x − center) to `product`. */
function addSlopes(x: usize, dy: usize, center: usize, columns: i32, sum: usize, product: usize): void {
  const whole = columns & ~3;
  addTo(sum, dy, columns);
  for (let j = 0; j < whole; j += 4) {
    const difference = f32x4.sub(v128.load(at(x, j)), v128.load(at(center, j)));
    v128.store(at(product, j), multiplyAdd(difference, v128.load(at(dy, j)), v128.load(at(product, j))));
  }
  for (let j = whole; j < columns; j++) {
    const difference = load<f32>(at(x, j)) - load<f32>(at(center, j));
    store<f32>(at(product, j), load<f32>(at(product, j)) + difference * load<f32>(at(dy, j)));
  }
}

/** dx ← dy · a + x · b + c, with one a, b and c per column. */
export function combineColumns(
  x: usize,
  dy: usize,
  rows: i32,
  columns: i32,
  a: usize,
  b: usize,
  c: usize,
  dx: usize,
): void {
  const whole = columns & ~3;
  for (let i = 0; i < rows; i++) {
    const row = i * columns;
    for (let j = 0; j < whole; j += 4) {
      const ofX = multiplyAdd(v128.load(at(x, row + j)), v128.load(at(b, j)), v128.load(at(c, j)));
      v128.store(at(dx, row + j), multiplyAdd(v128.load(at(dy, row + j)), v128.load(at(a, j)), ofX));
    }
    for (let j = whole; j < columns; j++) {
      const ofX = load<f32>(at(x, row + j)) * load<f32>(at(b, j)) + load<f32>(at(c, j));
      store<f32>(at(dx, row + j), load<f32>(at(dy, row + j)) * load<f32>(at(a, j)) + ofX);
    }
  }
}
