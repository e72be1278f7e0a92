import { withoutFormula } from '../../../core/text/printable.ts';
import { indexAt, indicesWithin, nearestIndex } from '../columns.ts';
import type { PreparedLine } from '../series-lines.ts';
import type { Scene } from '../scene/scene.ts';
import type { ChartAxis, ChartRange, ChartSeries } from '../types.ts';
import { formatPosition } from '../series/readout.ts';

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

/**
 * The visible part of some lines as a table: one row per point of the longest line, or `maximumRows` of them evenly
 * spaced, with the nearest points of the other lines. Each visible event is in the row nearest to it.
 */
export function seriesTable(
  lines: readonly PreparedLine[],
  axis: ChartAxis,
  window: ChartRange,
  events: Scene['events'] = [],
): ChartTable {
  const visible = events.filter(({ x }) => x >= window.from && x <= window.to);
  const columns = [axis, ...lines.map(({ series }) => series.label), ...(visible.length > 0 ? ['events'] : [])];
  const longest = lines.toSorted((a, b) => b.series.length - a.series.length).at(0);
  if (longest === undefined) return { caption: 'No line is shown.', columns, rows: [] };
  const { x, series } = longest;
  const [start, end] = indicesWithin(x, series.length, window);
  const count = end - start;
  const positions = Float64Array.from(spread(count, maximumRows), (offset) => x[start + offset]);
  const labels = new Map<number, string[]>();
  for (const { x: at, label } of visible) {
    const row = nearestIndex(positions, positions.length, at);
    labels.set(row, [...(labels.get(row) ?? []), label]);
  }
  const rows = Array.from(positions, (position, row) => [
    ...rowAt(lines, axis, position),
    ...(visible.length > 0 ? [labels.get(row)?.join('; ') ?? ''] : []),
  ]);
  const measured = pointsWithin(series, axis, window).measured;
  const caption =
    measured > rows.length
      ? `${spellCount(rows.length, measured)}, ${howChosen(count, measured)}`
      : `All ${count} points`;
  return { caption, columns, rows };
}

function howChosen(held: number, measured: number): string {
  return held < measured ? 'thinned with their extremes kept' : 'evenly chosen';
}

/** `500 of 2,001 points`. */
function spellCount(shown: number, measured: number): string {
  return `${shown.toLocaleString('en-US')} of ${measured.toLocaleString('en-US')} points`;
}

/** The points of a line in a window: those that the page holds, and how many were measured. */
function pointsWithin(
  { x, length, stepsPerPoint }: ChartSeries,
  axis: ChartAxis,
  window: ChartRange,
): { held: number; measured: number } {
  const column = x[axis];
  if (column === null) return { held: 0, measured: 0 };
  const [start, end] = indicesWithin(column, length, window);
  const held = end - start;
  if (held < 2 || stepsPerPoint === undefined || stepsPerPoint === 0) return { held, measured: held };
  // Detail of a zoom has all points of its window, where the mean distance may be another.
  const measured = Math.round((x.step[end - 1] - x.step[start]) / stepsPerPoint) + 1;
  return { held, measured: Math.max(held, measured) };
}

/**
 * `20,000 of 100,000 points` for the visible part of lines of which the page holds only some points; null where it
 * holds all.
 */
export function spellThinning(series: readonly ChartSeries[], axis: ChartAxis, window: ChartRange): string | null {
  const counts = series.map((one) => pointsWithin(one, axis, window));
  const [held, measured] = [
    counts.reduce((sum, one) => sum + one.held, 0),
    counts.reduce((sum, one) => sum + one.measured, 0),
  ];
  return held < measured ? spellCount(held, measured) : null;
}

function rowAt(lines: readonly PreparedLine[], axis: ChartAxis, position: number): (string | number)[] {
  const values = lines.map(({ series, x, y }) => {
    const index = indexAt(x, series.length, position);
    return index === -1 ? '–' : y[index];
  });
  return [formatPosition(axis, position), ...values];
}

/**
 * Every visible point of some lines that the page holds as CSV, not smoothed: `series,step,epoch,time_seconds,value`.
 */
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
