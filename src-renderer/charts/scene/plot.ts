import { bucketGrid, ThinnedLine } from '../buckets.ts';
import { pixels, type Scale } from './axes.ts';

/** Where a plot lies, without its axes' labels, in pixels. */
export interface PlotArea {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Pixels of the values of both axes. */
export interface Place {
  x: (value: number) => number;
  y: (value: number) => number;
}

export function placeIn({ x, y }: { x: Scale; y: Scale }, { left, top, right, bottom }: PlotArea): Place {
  return { x: pixels(x, left, right), y: pixels(y, bottom, top) };
}

/** What draws lines: a canvas, or anything that takes the same calls. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

type Points = Pick<ThinnedLine, 'x' | 'y' | 'count'>;

/**
 * How far the mark of a line's only point reaches to each side: one pixel would hardly be visible on an empty chart.
 */
const singleReach = 4;

/** Follows a thinned line. A point between two gaps becomes one pixel of line, which would otherwise be invisible. */
export function tracePath({ x: xs, y: ys, count }: Points, { x, y }: Place, pen: Pen): void {
  if (count === 1 && Number.isFinite(x(xs[0]) + y(ys[0]))) {
    pen.moveTo(x(xs[0]) - singleReach, y(ys[0]));
    pen.lineTo(x(xs[0]) + singleReach, y(ys[0]));
    return;
  }
  let isDrawing = false;
  for (let index = 0; index < count; index++) {
    const [left, top] = [x(xs[index]), y(ys[index])];
    // The sum is not finite if either is not.
    if (!Number.isFinite(left + top)) isDrawing = false;
    else if (isDrawing) pen.lineTo(left, top);
    else {
      pen.moveTo(left, top);
      if (index + 1 === count || !Number.isFinite(y(ys[index + 1]))) pen.lineTo(left + 1, top);
      isDrawing = true;
    }
  }
}

/**
 * Whether a line has more points than pixels. It then goes up and down so much that dashes along its length would look
 * like noise: such a line is dashed by position instead, and a canvas draws it with `PixelColumns`.
 */
export function isDenseLine(points: number, area: PlotArea): boolean {
  return points > area.right - area.left;
}

/** What `trace` draws, as the `d` of an SVG path. */
export function pathOf(trace: (pen: Pen) => void): string {
  const commands: string[] = [];
  trace({
    moveTo: (left, top) => commands.push(`M${hundredths(left)} ${hundredths(top)}`),
    lineTo: (left, top) => commands.push(`L${hundredths(left)} ${hundredths(top)}`),
  });
  return commands.join('');
}

/** Both axes of an SVG plot and its place. */
export interface Plot {
  x: Scale;
  y: Scale;
  area: PlotArea;
}

/** The SVG path through columns by ascending x, thinned to the plot's pixels without losing a spike. */
export function polyline(x: Float64Array, y: Float64Array, length: number, plot: Plot): string {
  const grid = bucketGrid(plot.x, plot.x.isLog, plot.area.right - plot.area.left);
  const line = new ThinnedLine(grid);
  line.extend(x, y, length, grid);
  return pathOf((pen) => tracePath(line, placeIn(plot, plot.area), pen));
}

/** The SVG outline of the area between two columns by ascending x, through every point. */
export function areaOutline(x: Float64Array, lower: Float64Array, upper: Float64Array, plot: Plot): string {
  const place = placeIn(plot, plot.area);
  const points = (y: Float64Array): string[] =>
    Array.from(x, (value, index) => `${hundredths(place.x(value))} ${hundredths(place.y(y[index]))}`);
  return x.length === 0 ? '' : `M${points(upper).join('L')}L${points(lower).toReversed().join('L')}Z`;
}

/** Finer than any screen, and short to write. */
export function hundredths(pixels: number): number {
  return Math.round(pixels * 100) / 100;
}
