import { withoutFormula } from '../../../core/text/printable.ts';

/** The values behind a chart as rows. They are rounded only when displayed, so that files keep all digits. */
export interface ChartTable {
  caption: string;
  columns: string[];
  /** One cell per column; the first names the row. */
  rows: (string | number)[][];
}

export const maximumRows = 500;

/** At most `maximum` of the indices 0 to `count` - 1, evenly spaced, including the first and the last. */
export function spread(count: number, maximum: number): number[] {
  if (count <= maximum) return Array.from({ length: count }, (_, index) => index);
  return Array.from({ length: maximum }, (_, index) => Math.round((index * (count - 1)) / (maximum - 1)));
}

/** A CSV field (RFC 4180): in quotes if it contains a comma, a quote or a line break. Never a formula. */
export function csvField(cell: string): string {
  const text = withoutFormula(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows below a header, with lines that end in CR LF (RFC 4180). */
export function csvText(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [columns, ...rows].map((row) => `${row.map((cell) => csvField(String(cell))).join(',')}\r\n`).join('');
}
