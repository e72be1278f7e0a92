import type { PredictionColumn } from '../../../core/ensemble/columns.ts';
import { mostNumberBytes, writeNumber } from './number-bytes.ts';

/** How rows become text. */
interface RowLayout {
  /** In front of each column's value. */
  before: readonly string[];
  /** Behind the last value. */
  after: string;
  textOf: (text: string) => string;
  /** What stands for NaN, Infinity and -Infinity, given these as texts. */
  nonFiniteOf: (text: string) => string;
}

/** All rows as UTF-8. Numbers are written as bytes, because making a string of each takes longer than predicting it. */
export function textRows(columns: readonly PredictionColumn[], layout: RowLayout): Buffer {
  const rows = columns[0].values.length;
  const cells = columns.map((column) => cellWriter(column, layout));
  const before = layout.before.map((text) => Buffer.from(text));
  const after = Buffer.from(layout.after);
  const fixed = [...before, after].reduce((sum, { length }) => sum + length, 0) * rows;
  const target = Buffer.allocUnsafe(cells.reduce((sum, { mostBytes }) => sum + mostBytes, fixed));
  let at = 0;
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < cells.length; i++) {
      at = writeBytes(target, at, before[i]);
      at = cells[i].write(target, at, row);
    }
    at = writeBytes(target, at, after);
  }
  return target.subarray(0, at);
}

interface CellWriter {
  /** Bytes of all cells at most. */
  mostBytes: number;
  /** Returns the position behind the cell. */
  write(target: Buffer, at: number, row: number): number;
}

function cellWriter(column: PredictionColumn, { textOf, nonFiniteOf }: RowLayout): CellWriter {
  if (column.type === 'number') return numberWriter(column.values, nonFiniteOf);
  const texts =
    column.type === 'text'
      ? column.values.map(textOf)
      : Array.from(column.values, (value) => (value === 1 ? 'true' : 'false'));
  // A unit of UTF-16 takes at most three bytes.
  const mostBytes = texts.reduce((sum, { length }) => sum + 3 * length, 0);
  return { mostBytes, write: (target, at, row) => at + target.write(texts[row], at) };
}

function numberWriter(values: Float64Array | Float32Array, nonFiniteOf: RowLayout['nonFiniteOf']): CellWriter {
  return {
    mostBytes: values.length * Math.max(mostNumberBytes, nonFiniteOf('-Infinity').length),
    write: (target, at, row) => {
      const value = values[row];
      if (Number.isFinite(value)) return writeNumber(target, at, value);
      return at + target.write(nonFiniteOf(String(value)), at);
    },
  };
}

function writeBytes(target: Buffer, at: number, bytes: Buffer): number {
  for (let i = 0; i < bytes.length; i++) target[at + i] = bytes[i];
  return at + bytes.length;
}
