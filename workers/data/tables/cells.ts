/** A value as a file holds it; null where it is missing. */
export type Cell = string | number | bigint | boolean | Date | null;

/** A table's cells, before their columns have types. */
export interface RawTable {
  /** Name of the file, for messages. */
  source: string;
  columns: { name: string; cells: Cell[] }[];
  /** Number of rows, N. */
  length: number;
  /** Whether the file gives the columns names. */
  hasNames: boolean;
  /** Where a row is, for messages: `houses.csv, line 3`. */
  placeOf(row: number): string;
}

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Whether a field is a decimal number within float32's range: not `NaN`, `?`, `0x10` or 1e39. */
export function isDecimal(field: string): boolean {
  return decimal.test(field) && Number.isFinite(Math.fround(Number(field)));
}
