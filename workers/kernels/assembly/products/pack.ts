import { at } from '../arithmetic';

/**
 * The number of rows in a panel of A, and of columns in a panel of B: 6 x 8 sums fill 12 of the 16 vector registers
 * that V8 uses.
 */
export const panelRows: i32 = 6;
export const panelColumns: i32 = 8;

/**
 * Copies a block of op(A), `rows x depth`, to panels of 6 rows: element (i, p) of a panel lies at `6 p + i`. Missing
 * rows of the last panel are zeros. `source` is the address of the block's first element, `stride` A's leading
 * dimension.
 */
export function packRows(transposed: bool, source: usize, stride: i32, rows: i32, depth: i32, target: usize): void {
  for (let i = 0; i < rows; i += panelRows) {
    const panel = at(target, i * depth);
    const start = at(source, transposed ? i : i * stride);
    if (rows - i < panelRows) packRagged(transposed, start, stride, rows - i, panelRows, depth, panel);
    else if (transposed) copySixes(start, stride, depth, panel);
    else interleaveSix(start, stride, depth, panel);
  }
}

/** Copies a block of op(B), `depth x columns`, to panels of 8 columns: element (p, j) of a panel lies at `8 p + j`. */
export function packColumns(
  transposed: bool,
  source: usize,
  stride: i32,
  columns: i32,
  depth: i32,
  target: usize,
): void {
  for (let j = 0; j < columns; j += panelColumns) {
    const panel = at(target, j * depth);
    const start = at(source, transposed ? j * stride : j);
    if (columns - j < panelColumns) packRagged(!transposed, start, stride, columns - j, panelColumns, depth, panel);
    else if (transposed) interleaveEight(start, stride, depth, panel);
    else copyEights(start, stride, depth, panel);
  }
}

/**
 * Copies the last panel, which has fewer than `width` lines. With `contiguous`, lines lie side by side in memory;
 * otherwise each runs along the depth.
 */
function packRagged(
  contiguous: bool,
  source: usize,
  stride: i32,
  lines: i32,
  width: i32,
  depth: i32,
  panel: usize,
): void {
  const alongDepth = contiguous ? stride : 1;
  const alongLines = contiguous ? 1 : stride;
  for (let p = 0; p < depth; p++) {
    for (let line = 0; line < width; line++) {
      const value: f32 = line < lines ? load<f32>(at(source, p * alongDepth + line * alongLines)) : 0;
      store<f32>(at(panel, p * width + line), value);
    }
  }
}

function copySixes(source: usize, stride: i32, depth: i32, panel: usize): void {
  for (let p = 0; p < depth; p++) {
    const from = at(source, p * stride);
    const to = at(panel, p * panelRows);
    v128.store(to, v128.load(from));
    store<u64>(to, load<u64>(from, 16), 16);
  }
}

function copyEights(source: usize, stride: i32, depth: i32, panel: usize): void {
  for (let p = 0; p < depth; p++) {
    const from = at(source, p * stride);
    const to = at(panel, p * panelColumns);
    v128.store(to, v128.load(from));
    v128.store(to, v128.load(from, 16), 16);
  }
}

function interleaveSix(source: usize, stride: i32, depth: i32, panel: usize): void {
  const whole = depth & ~3;
  for (let p = 0; p < whole; p += 4) {
    const to = at(panel, p * panelRows);
    interleaveFour(at(source, p), stride, to, panelRows << 2);
    interleaveTwo(at(source, p + 4 * stride), stride, to + 16);
  }
  for (let p = whole; p < depth; p++) {
    for (let i = 0; i < panelRows; i++) {
      store<f32>(at(panel, p * panelRows + i), load<f32>(at(source, p + i * stride)));
    }
  }
}

function interleaveEight(source: usize, stride: i32, depth: i32, panel: usize): void {
  const whole = depth & ~3;
  for (let p = 0; p < whole; p += 4) {
    const to = at(panel, p * panelColumns);
    interleaveFour(at(source, p), stride, to, panelColumns << 2);
    interleaveFour(at(source, p + 4 * stride), stride, to + 16, panelColumns << 2);
  }
  for (let p = whole; p < depth; p++) {
    for (let j = 0; j < panelColumns; j++) {
      store<f32>(at(panel, p * panelColumns + j), load<f32>(at(source, p + j * stride)));
    }
  }
}

/** Transposes 4 x 4 values: four lines `stride` values apart become four lines `step` bytes apart. */
export function interleaveFour(source: usize, stride: i32, target: usize, step: usize): void {
  const a = v128.load(source);
  const b = v128.load(at(source, stride));
  const c = v128.load(at(source, 2 * stride));
  const d = v128.load(at(source, 3 * stride));
  const lowAb = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
  const highAb = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  const lowCd = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
  const highCd = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
  v128.store(target, v128.shuffle<f64>(lowAb, lowCd, 0, 2));
  v128.store(target + step, v128.shuffle<f64>(lowAb, lowCd, 1, 3));
  v128.store(target + 2 * step, v128.shuffle<f64>(highAb, highCd, 0, 2));
  v128.store(target + 3 * step, v128.shuffle<f64>(highAb, highCd, 1, 3));
}

/** Copies the last two rows of a panel of six, for four steps of the depth. */
function interleaveTwo(source: usize, stride: i32, target: usize): void {
  const a = v128.load(source);
  const b = v128.load(at(source, stride));
  const low = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
  const high = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  v128.store64_lane(target, low, 0);
  v128.store64_lane(target + 24, low, 1);
  v128.store64_lane(target + 48, high, 0);
  v128.store64_lane(target + 72, high, 1);
}
