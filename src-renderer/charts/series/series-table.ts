import { type ChartTable, csvField, csvText, maximumRows, spread } from '../frame/table.ts';
import { indexAt, indicesWithin, nearestIndex } from '../points/columns.ts';
import type { PreparedLine } from '../points/series-lines.ts';
import type { Scene } from '../scene/scene.ts';
import type { ChartAxis, ChartRange, ChartSeries } from '../types.ts';
import { formatPosition } from './readout.ts';

/**
 * The visible part of some lines as a table: one row per point of the longest line, or `maximumRows` of them evenly spaced, with
 * the nearest points of the other lines. Each visible event is in the row nearest to it.
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
  const caption = count > rows.length ? `${rows.length} of ${count} points, evenly chosen` : `All ${count} points`;
  return { caption, columns, rows };
}

function rowAt(lines: readonly PreparedLine[], axis: ChartAxis, position: number): (string | number)[] {
  const values = lines.map(({ series, x, y }) => {
    const index = indexAt(x, series.length, position);
    return index === -1 ? '–' : y[index];
  });
  return [formatPosition(axis, position), ...values];
}

/** Every visible point of some lines as CSV, neither smoothed nor thinned: `series,step,epoch,time_seconds,value`. */
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
