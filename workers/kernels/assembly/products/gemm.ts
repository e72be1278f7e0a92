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

/** Bytes of scratch space that `gemm` needs: a packed block of A, one of B, one tile of C. */
export function gemmScratchBytes(): i32 {
  return (packedBlockRows + packedBlockColumns + panelRows * panelColumns) << 2;
}

/**
 * C ← op(A) op(B), or C ← op(A) op(B) + C with `accumulate`. op(A) is `m x k`, op(B) `k x n`, C `m x n`, all float32; stored rows are `lda`, `ldb` and
 * `ldc` values apart; op(X) = Xᵀ if X is transposed. Sums run along k in order, in blocks of 256 whose sums are added in order. The
 * product is blocked and packed as in Goto and van de Geijn (2008), "Anatomy of high-performance matrix multiplication".
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
      for (let i = 0; i < m; i += blockRows) {
        const rows = min(m - i, blockRows);
        packRows(transposeA, at(a, transposeA ? p * lda + i : i * lda + p), lda, rows, depth, packedA);
        multiplyBlocks(rows, columns, depth, packedA, scratch, at(c, i * ldc + j), ldc, accumulate || p > 0);
      }
    }
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
    const panels = columns - j >= panelsPerTile * panelColumns ? panelsPerTile : 1;
    const width = min(columns - j, panels * panelColumns);
    const isWhole = width === panels * panelColumns;
    const panelB = at(b, j * depth);
    const target = at(c, j);
    if (isWhole) multiplyWhole(panels, wholeRows, depth, a, panelB, target, ldc, accumulate);
    const first = isWhole ? wholeRows : 0;
    multiplyRagged(first, rows, width, depth, a, panelB, target, ldc, accumulate);
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
    const panelA = at(a, i * depth);
    const target = at(c, i * ldc);
    if (panels === 2) multiplyPanelPairs(depth, panelA, b, target, step, accumulate);
    else multiplyPanels(depth, panelA, b, target, step, accumulate);
  }
}

/** Computes rows `first` to `rows` of one or two panels in a scratch tile, and copies the part that lies inside C. */
function multiplyRagged(
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
  for (let i = first; i < rows; i += panelRows) {
    for (let j = 0; j < columns; j += panelColumns) {
      multiplyPanels(depth, at(a, i * depth), at(b, j * depth), tile, panelColumns << 2, false);
      const target = at(c, i * ldc + j);
      storePart(tile, min(rows - i, panelRows), min(columns - j, panelColumns), target, ldc, accumulate);
    }
  }
}

/** Copies the part of a tile that lies inside C. */
function storePart(tile: usize, rows: i32, columns: i32, c: usize, ldc: i32, accumulate: bool): void {
  const whole = columns & ~3;
  for (let i = 0; i < rows; i++) {
    const from = at(tile, i * panelColumns);
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
