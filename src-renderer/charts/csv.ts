import { indicesWithin } from './points/columns.ts';
import type { ChartAxis, ChartRange, ChartSeries } from './types.ts';

/** A field as RFC 4180 wants it: in quotes where it holds a comma, a quote or a line break. */
export function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows with a header, lines ended by CR LF (RFC 4180). */
export function csvText(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [columns, ...rows].map((row) => `${row.map((cell) => csvField(String(cell))).join(',')}\r\n`).join('');
}

/** Every point behind the visible part of some lines, neither smoothed nor thinned: `series,step,epoch,time_seconds,value`. */
export function seriesCsv(series: readonly ChartSeries[], axis: ChartAxis, window: ChartRange): string[] {
  return [
    csvText(['series', 'step', 'epoch', 'time_seconds', 'value'], []),
    ...series.map((one) => linesOf(one, axis, window)),
  ];
}

function linesOf({ label, x, y, length }: ChartSeries, axis: ChartAxis, window: ChartRange): string {
  const column = x[axis];
  if (column === null) return '';
  const name = csvField(label);
  const lines: string[] = [];
  const [start, end] = indicesWithin(column, length, window);
  for (let index = start; index < end; index++) {
    lines.push(`${name},${x.step[index]},${x.epoch[index]},${x.time?.[index] ?? ''},${y[index]}\r\n`);
  }
  return lines.join('');
}
