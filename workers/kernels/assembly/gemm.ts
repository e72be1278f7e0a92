import { at } from './arithmetic';
import { packColumns, packRows, panelColumns, panelRows } from './pack';
import { multiplyPanels } from './tile';

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
 * C ← op(A) op(B), or C ← op(A) op(B) + C with `accumulate`; op(A) `m x k`, op(B) `k x n`, C `m x n`, all float32 in rows `lda`, `ldb`, `ldc`
 * values apart, op(X) = Xᵀ where X is transposed. Sums run along k in order, in blocks of 256, whose sums are added in order. Blocked
 * and packed as in Goto and van de Geijn (2008), "Anatomy of high-performance matrix multiplication".
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
  const step = (<usize>ldc) << 2;
  const tile = at(a, packedBlockRows);
  for (let j = 0; j < columns; j += panelColumns) {
    const panelB = at(b, j * depth);
    for (let i = 0; i < rows; i += panelRows) {
      const panelA = at(a, i * depth);
      const target = at(c, i * ldc + j);
      if (rows - i >= panelRows && columns - j >= panelColumns) {
        multiplyPanels(depth, panelA, panelB, target, step, accumulate);
      } else {
        multiplyPanels(depth, panelA, panelB, tile, panelColumns << 2, false);
        storePart(tile, min(rows - i, panelRows), min(columns - j, panelColumns), target, ldc, accumulate);
      }
    }
  }
}

/** Copies what of a tile lies within C. */
function storePart(tile: usize, rows: i32, columns: i32, c: usize, ldc: i32, accumulate: bool): void {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const target = at(c, i * ldc + j);
      const sum = load<f32>(at(tile, i * panelColumns + j));
      store<f32>(target, accumulate ? load<f32>(target) + sum : sum);
    }
  }
}
