import { at } from './arithmetic';
import { interleaveFour } from './products/pack';

// Sixteen cache lines on either side.
const tile: i32 = 16;

/** Swaps the middle axes of `batch x rows x columns x run` values of four bytes. */
export function swapAxes(x: usize, batch: i32, rows: i32, columns: i32, run: i32, out: usize): void {
  const size = rows * columns * run;
  for (let i = 0; i < batch; i++) {
    const from = at(x, i * size);
    const to = at(out, i * size);
    if (run == 1) transpose(from, rows, columns, to);
    else transposeRuns(from, rows, columns, run, to);
  }
}

function transposeRuns(x: usize, rows: i32, columns: i32, run: i32, out: usize): void {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      memory.copy(at(out, (j * rows + i) * run), at(x, (i * columns + j) * run), (<usize>run) << 2);
    }
  }
}

function transpose(x: usize, rows: i32, columns: i32, out: usize): void {
  for (let i = 0; i < rows; i += tile) {
    for (let j = 0; j < columns; j += tile) {
      transposeTile(x, i, min(i + tile, rows), j, min(j + tile, columns), rows, columns, out);
    }
  }
}

function transposeTile(
  x: usize,
  fromRow: i32,
  toRow: i32,
  fromColumn: i32,
  toColumn: i32,
  rows: i32,
  columns: i32,
  out: usize,
): void {
  const wholeRow = fromRow + ((toRow - fromRow) & ~3);
  const wholeColumn = fromColumn + ((toColumn - fromColumn) & ~3);
  for (let i = fromRow; i < wholeRow; i += 4) {
    for (let j = fromColumn; j < wholeColumn; j += 4) {
      interleaveFour(at(x, i * columns + j), columns, at(out, j * rows + i), (<usize>rows) << 2);
    }
  }
  for (let i = fromRow; i < toRow; i++) {
    for (let j = i < wholeRow ? wholeColumn : fromColumn; j < toColumn; j++) {
      store<u32>(at(out, j * rows + i), load<u32>(at(x, i * columns + j)));
    }
  }
}
