import { bucketGrid, ThinnedLine } from '../points/buckets.ts';
import { hundredths, pathData, pixels, type PlotArea } from './plot-area.ts';
import type { Scale } from './scale.ts';

/** Both axes of a plot in SVG, and where it stands. */
export interface Plot {
  x: Scale;
  y: Scale;
  area: PlotArea;
}

/** SVG's path through columns by ascending x, thinned to the plot's pixels without losing a spike. */
export function polyline(x: Float64Array, y: Float64Array, length: number, plot: Plot): string {
  const grid = bucketGrid(plot.x, plot.x.isLog, plot.area.right - plot.area.left);
  const line = new ThinnedLine(grid);
  line.extend(x, y, length, grid);
  return pathData(line, plotPixels(plot));
}

/** SVG's outline of the area between two columns by ascending x; every point is kept. */
export function areaOutline(x: Float64Array, lower: Float64Array, upper: Float64Array, plot: Plot): string {
  const { x: left, y: top } = plotPixels(plot);
  const points = (y: Float64Array): string[] =>
    Array.from(x, (value, index) => `${hundredths(left(value))} ${hundredths(top(y[index]))}`);
  return x.length === 0 ? '' : `M${points(upper).join('L')}L${points(lower).toReversed().join('L')}Z`;
}

/** Pixels of values. */
export function plotPixels({ x, y, area }: Plot): { x: (value: number) => number; y: (value: number) => number } {
  return { x: pixels(x, area.left, area.right), y: pixels(y, area.bottom, area.top) };
}
