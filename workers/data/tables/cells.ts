/** A value as a file holds it; null where it is missing. */
export type Cell = string | number | bigint | boolean | Date | null;

/** The cells of a column, before it has a type. */
export interface RawColumn {
  name: string;
  cells: Cell[];
  /** How many cells count as missing, by their text; cells that the file leaves out are those of the empty text. */
  missing: Map<string, number>;
}

/** A table's cells, before their columns have types. */
export interface RawTable {
  /** Name of the file, for messages. */
  source: string;
  columns: RawColumn[];
  /** Number of rows, N. */
  length: number;
  /** Whether the file gives the columns names. */
  hasNames: boolean;
  /**
   * Positions, from 0, of columns without a name, which are called `column 1`, `column 2`, ...; none where no column
   * has one.
   */
  nameless?: readonly number[];
  /** Rows without any value, which were left out. */
  emptyRows?: number;
  /** Where a row is, for messages: `houses.csv, line 3`. */
  placeOf(row: number): string;
}

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Whether a field is a decimal number within float32's range: not `NaN`, `?`, `0x10` or 1e39. */
export function isDecimal(field: string): boolean {
  return decimal.test(field) && Number.isFinite(Math.fround(Number(field)));
}

/** A column without cells. */
export function emptyColumn(name: string): RawColumn {
  return { name, cells: [], missing: new Map() };
}

/** Adds a cell, or counts it where it is missing: null, NaN, or a text that stands for that. */
export function addCell({ cells, missing }: RawColumn, cell: Cell, isMissing: (field: string) => boolean): void {
  const isAbsent = cell === null || (typeof cell === 'string' ? isMissing(cell) : Number.isNaN(cell));
  cells.push(isAbsent ? null : cell);
  if (!isAbsent) return;
  const text = typeof cell === 'string' ? cell : '';
  missing.set(text, (missing.get(text) ?? 0) + 1);
}
