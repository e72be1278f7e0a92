import type { ThinnedLine } from '../points/buckets.ts';
import { fractionOf, type Scale } from './scale.ts';

/** Where the scene's axes span, in pixels. */
export interface PlotArea {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Pixels of an axis's values; NaN where a logarithm shows none. */
export function pixels(scale: Scale, start: number, end: number): (value: number) => number {
  if (scale.isLog) return (value) => start + fractionOf(scale, value) * (end - start);
  const slope = (end - start) / (scale.to - scale.from);
  return (value) => start + (value - scale.from) * slope;
}

/** What a line is drawn with: a canvas, or anything that takes the same calls. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

export interface Tracing {
  x: (value: number) => number;
  y: (value: number) => number;
}

/** To both sides of a line's only point: a pixel would hardly be seen on an empty chart. */
const singleReach = 4;

/** Follows a thinned line; a point between two gaps becomes a pixel of line, as it would be invisible otherwise. */
export function tracePath({ x: xs, y: ys, count }: Points, { x, y }: Tracing, pen: Pen): void {
  if (count === 1 && Number.isFinite(x(xs[0]) + y(ys[0]))) {
    pen.moveTo(x(xs[0]) - singleReach, y(ys[0]));
    pen.lineTo(x(xs[0]) + singleReach, y(ys[0]));
    return;
  }
  let isDrawing = false;
  for (let index = 0; index < count; index++) {
    const [left, top] = [x(xs[index]), y(ys[index])];
    // The sum is NaN or infinite where either is.
    if (!Number.isFinite(left + top)) isDrawing = false;
    else if (isDrawing) pen.lineTo(left, top);
    else {
      pen.moveTo(left, top);
      if (index + 1 === count || !Number.isFinite(y(ys[index + 1]))) pen.lineTo(left + 1, top);
      isDrawing = true;
    }
  }
}

type Points = Pick<ThinnedLine, 'x' | 'y' | 'count'>;

/**
 * Whether a line has more points than pixels. It then goes up and down so much that dashes along its length would look like
 * noise: such a line is dashed by where it stands, and a canvas draws it by `PixelColumns`.
 */
export function isDenseLine(points: number, area: PlotArea): boolean {
  return points > area.right - area.left;
}

/** The path of a line, for the `d` of an SVG's path. */
export function pathData(line: Points, tracing: Tracing): string {
  return pathOf((pen) => tracePath(line, tracing, pen));
}

/** What `trace` draws, for the `d` of an SVG's path. */
export function pathOf(trace: (pen: Pen) => void): string {
  const commands: string[] = [];
  trace({
    moveTo: (left, top) => commands.push(`M${hundredths(left)} ${hundredths(top)}`),
    lineTo: (left, top) => commands.push(`L${hundredths(left)} ${hundredths(top)}`),
  });
  return commands.join('');
}

/** Finer than any screen, and short to write. */
export function hundredths(pixels: number): number {
  return Math.round(pixels * 100) / 100;
}
