/** What is behind a chart, as rows. Numbers are rounded only where they are read, so that files keep all of them. */
export interface ChartTable {
  caption: string;
  columns: string[];
  /** As many cells as columns; the first names the row. */
  rows: (string | number)[][];
}

export const maximumRows = 500;

/** At most `maximum` of the indices 0 to `count` - 1, evenly spread, with the first and the last. */
export function spread(count: number, maximum: number): number[] {
  if (count <= maximum) return Array.from({ length: count }, (_, index) => index);
  return Array.from({ length: maximum }, (_, index) => Math.round((index * (count - 1)) / (maximum - 1)));
}

/** A field as RFC 4180 wants it: in quotes where it holds a comma, a quote or a line break. */
export function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows with a header, lines ended by CR LF (RFC 4180). */
export function csvText(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [columns, ...rows].map((row) => `${row.map((cell) => csvField(String(cell))).join(',')}\r\n`).join('');
}
