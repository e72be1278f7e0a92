import { indicesWithin, nearestIndex } from '../points/columns.ts';
import { formatPosition } from '../series/readout.ts';
import type { PreparedLine } from '../points/series-lines.ts';
import type { Scene } from '../scene/scene.ts';
import type { ChartAxis, ChartRange } from '../types.ts';

/** What is behind a chart, as rows. Numbers are rounded only where they are read, so that files keep all of them. */
export interface ChartTable {
  caption: string;
  columns: string[];
  /** As many cells as columns; the first names the row. */
  rows: (string | number)[][];
}

export const maximumRows = 500;

/**
 * The visible part of some lines as a table: a row for each point of the longest line, every n-th and the last where there are
 * more than `maximumRows`; the other lines with their nearest points. Visible events stand in the rows that are nearest to them.
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
    const index = nearestIndex(x, series.length, position);
    return index === -1 ? '-' : y[index];
  });
  return [formatPosition(axis, position), ...values];
}

/** At most `maximum` of the indices 0 to `count` - 1, evenly spread, with the first and the last. */
export function spread(count: number, maximum: number): number[] {
  if (count <= maximum) return Array.from({ length: count }, (_, index) => index);
  return Array.from({ length: maximum }, (_, index) => Math.round((index * (count - 1)) / (maximum - 1)));
}
