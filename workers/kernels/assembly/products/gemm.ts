import { at } from '../arithmetic';
import { packColumns, packRows, panelColumns, panelRows } from './pack';
import { multiplyPanels } from './tile';
import { multiplyPanelPairs } from './wide-tile';

// A block of A (120 KiB) stays in the second-level cache while a panel of B (8 KiB) stays in the first.
const blockRows: i32 = 120;
const blockDepth: i32 = 256;
const blockColumns: i32 = 1024;

const packedBlockRows: i32 = blockRows * blockDepth;
const packedBlockColumns: i32 = blockColumns * blockDepth;

/** Bytes of scratch space that `gemm` and `multiplyPacked` need: a packed block of A, one of B, one tile of C. */
export function gemmScratchBytes(): i32 {
  return (packedBlockRows + packedBlockColumns + panelRows * panelsPerTile * panelColumns) << 2;
}

/**
 * C ← op(A) op(B), or C ← op(A) op(B) + C with `accumulate`. op(A) is `m x k`, op(B) `k x n`, C `m x n`, all float32;
 * stored rows are `lda`, `ldb` and `ldc` values apart; op(X) = Xᵀ if X is transposed. Sums run along k in order, in
 * blocks of 256 whose sums are added in order. The product is blocked and packed as in Goto and van de Geijn (2008),
 * "Anatomy of high-performance matrix multiplication".
 */
export function gemm(
  transposeA: bool,
  transposeB: bool,
  m: i32,
  n: i32,
  k: i32,
  a: usize,
  lda: i32,
  b: usize,
  ldb: i32,
  c: usize,
  ldc: i32,
  accumulate: bool,
  scratch: usize,
): void {
  const packedA = at(scratch, packedBlockColumns);
  for (let j = 0; j < n; j += blockColumns) {
    const columns = min(n - j, blockColumns);
    for (let p = 0; p < k; p += blockDepth) {
      const depth = min(k - p, blockDepth);
      packColumns(transposeB, at(b, transposeB ? j * ldb + p : p * ldb + j), ldb, columns, depth, scratch);
      const from = at(a, transposeA ? p * lda : p);
      multiplyRows(transposeA, m, columns, depth, from, lda, scratch, at(c, j), ldc, accumulate || p > 0, packedA);
    }
  }
}

/** Bytes of op(B) `k x n`, packed whole. */
export function packedBytes(n: i32, k: i32): i32 {
  return (wholePanels(n) * k) << 2;
}

/** Packs all of op(B), for products with the same matrix. */
export function packMatrix(transposeB: bool, n: i32, k: i32, b: usize, ldb: i32, target: usize): void {
  for (let j = 0; j < n; j += blockColumns) {
    const columns = min(n - j, blockColumns);
    for (let p = 0; p < k; p += blockDepth) {
      const depth = min(k - p, blockDepth);
      packColumns(transposeB, at(b, transposeB ? j * ldb + p : p * ldb + j), ldb, columns, depth, target);
      target = at(target, wholePanels(columns) * depth);
    }
  }
}

/** `gemm` of A, not transposed, and the `packed` op(B), with the same bits. */
export function multiplyPacked(
  m: i32,
  n: i32,
  k: i32,
  a: usize,
  lda: i32,
  packed: usize,
  c: usize,
  ldc: i32,
  accumulate: bool,
  scratch: usize,
): void {
  const packedA = at(scratch, packedBlockColumns);
  for (let j = 0; j < n; j += blockColumns) {
    const columns = min(n - j, blockColumns);
    for (let p = 0; p < k; p += blockDepth) {
      const depth = min(k - p, blockDepth);
      multiplyRows(false, m, columns, depth, at(a, p), lda, packed, at(c, j), ldc, accumulate || p > 0, packedA);
      packed = at(packed, wholePanels(columns) * depth);
    }
  }
}

/** `columns`, rounded up to whole panels. */
function wholePanels(columns: i32): i32 {
  return (columns + panelColumns - 1) & -panelColumns;
}

/** C ← op(A) B or C ← op(A) B + C, for a packed block of B. */
function multiplyRows(
  transposeA: bool,
  m: i32,
  columns: i32,
  depth: i32,
  a: usize,
  lda: i32,
  b: usize,
  c: usize,
  ldc: i32,
  accumulate: bool,
  packedA: usize,
): void {
  for (let i = 0; i < m; i += blockRows) {
    const rows = min(m - i, blockRows);
    packRows(transposeA, at(a, transposeA ? i : i * lda), lda, rows, depth, packedA);
    multiplyBlocks(rows, columns, depth, packedA, b, at(c, i * ldc), ldc, accumulate);
  }
}

function multiplyBlocks(
  rows: i32,
  columns: i32,
  depth: i32,
  a: usize,
  b: usize,
  c: usize,
  ldc: i32,
  accumulate: bool,
): void {
  const wholeRows = rows - (rows % panelRows);
  for (let j = 0; j < columns;) {
    // Two panels also where the second is not whole.
    const panels = columns - j > panelColumns ? panelsPerTile : 1;
    const width = min(columns - j, panels * panelColumns);
    const isWhole = width === panels * panelColumns;
    const panelB = at(b, j * depth);
    const target = at(c, j);
    if (isWhole) multiplyWhole(panels, wholeRows, depth, a, panelB, target, ldc, accumulate);
    const first = isWhole ? wholeRows : 0;
    multiplyRagged(panels, first, rows, width, depth, a, panelB, target, ldc, accumulate);
    j += width;
  }
}

/** Computes whole tiles, one below the other. */
function multiplyWhole(
  panels: i32,
  rows: i32,
  depth: i32,
  a: usize,
  b: usize,
  c: usize,
  ldc: i32,
  accumulate: bool,
): void {
  const step = (<usize>ldc) << 2;
  for (let i = 0; i < rows; i += panelRows) {
    multiplyTile(panels, depth, at(a, i * depth), b, at(c, i * ldc), step, accumulate);
  }
}

/** Computes rows `first` to `rows` of `panels` panels in a scratch tile, and copies the part that lies inside C. */
function multiplyRagged(
  panels: i32,
  first: i32,
  rows: i32,
  columns: i32,
  depth: i32,
  a: usize,
  b: usize,
  c: usize,
  ldc: i32,
  accumulate: bool,
): void {
  const tile = at(a, packedBlockRows);
  const width = panels * panelColumns;
  for (let i = first; i < rows; i += panelRows) {
    multiplyTile(panels, depth, at(a, i * depth), b, tile, width << 2, false);
    storePart(tile, width, min(rows - i, panelRows), columns, at(c, i * ldc), ldc, accumulate);
  }
}

function multiplyTile(panels: i32, depth: i32, a: usize, b: usize, c: usize, step: usize, accumulate: bool): void {
  if (panels === 2) multiplyPanelPairs(depth, a, b, c, step, accumulate);
  else multiplyPanels(depth, a, b, c, step, accumulate);
}

/** Copies the part of a tile that lies inside C. */
function storePart(tile: usize, width: i32, rows: i32, columns: i32, c: usize, ldc: i32, accumulate: bool): void {
  const whole = columns & ~3;
  for (let i = 0; i < rows; i++) {
    const from = at(tile, i * width);
    const to = at(c, i * ldc);
    for (let j = 0; j < whole; j += 4) {
      const sums = v128.load(at(from, j));
      v128.store(at(to, j), accumulate ? f32x4.add(v128.load(at(to, j)), sums) : sums);
    }
    for (let j = whole; j < columns; j++) {
      const sum = load<f32>(at(from, j));
      store<f32>(at(to, j), accumulate ? load<f32>(at(to, j)) + sum : sum);
    }
  }
}
