import { at, multiplyAdd } from './arithmetic';
import { addTo, clear } from './rows';

/** Rows whose sums and squares are taken while they are in the second-level cache, if they have no more than 1,000 values. */
const blockRows: i32 = 64;

/**
 * Mean and biased variance of each column of `rows x columns` values, in one pass: those of blocks, merged one after the other (Chan, Golub
 * and LeVeque, 1983). `blockMean` is scratch space for a row.
 */
export function columnMoments(x: usize, rows: i32, columns: i32, mean: usize, variance: usize, blockMean: usize): void {
  clear(mean, columns);
  clear(variance, columns);
  for (let first = 0; first < rows; first += blockRows) {
    const count = min(blockRows, rows - first);
    const block = at(x, first * columns);
    clear(blockMean, columns);
    for (let i = 0; i < count; i++) addTo(blockMean, at(block, i * columns), columns);
    mergeMeans(blockMean, mean, variance, columns, first, count);
    for (let i = 0; i < count; i++) addSquares(variance, at(block, i * columns), blockMean, columns);
  }
  for (let j = 0; j < columns; j++) store<f32>(at(variance, j), load<f32>(at(variance, j)) / <f32>rows);
}

/** `blockMean` holds sums of `count` rows and becomes their mean; `mean` that of `seen` rows becomes that of all, the sum of squares follows. */
function mergeMeans(blockMean: usize, mean: usize, squares: usize, columns: i32, seen: i32, count: i32): void {
  const share = <f32>count / <f32>(seen + count);
  for (let j = 0; j < columns; j++) {
    const ofBlock = load<f32>(at(blockMean, j)) / <f32>count;
    const difference = ofBlock - load<f32>(at(mean, j));
    store<f32>(at(blockMean, j), ofBlock);
    store<f32>(at(mean, j), load<f32>(at(mean, j)) + difference * share);
    store<f32>(at(squares, j), load<f32>(at(squares, j)) + difference * difference * share * <f32>seen);
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

/** y ← x · factor + shift, with one factor and one shift a column. */
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

/** Sums of each column of dy, and of dy · (x − center). */
export function columnSlopes(
  x: usize,
  dy: usize,
  rows: i32,
  columns: i32,
  center: usize,
  sum: usize,
  product: usize,
): void {
  clear(sum, columns);
  clear(product, columns);
  const whole = columns & ~3;
  for (let i = 0; i < rows; i++) {
    const row = i * columns;
    addTo(sum, at(dy, row), columns);
    for (let j = 0; j < whole; j += 4) {
      const difference = f32x4.sub(v128.load(at(x, row + j)), v128.load(at(center, j)));
      v128.store(at(product, j), multiplyAdd(difference, v128.load(at(dy, row + j)), v128.load(at(product, j))));
    }
    for (let j = whole; j < columns; j++) {
      const difference = load<f32>(at(x, row + j)) - load<f32>(at(center, j));
      store<f32>(at(product, j), load<f32>(at(product, j)) + difference * load<f32>(at(dy, row + j)));
    }
  }
}

/** dx ← dy · a + x · b + c, with one of each a column. */
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
