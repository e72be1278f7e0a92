import type { ThinnedLine } from './buckets.ts';
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

/** Follows a thinned line; a point between two gaps becomes a dot's width of line, as it would be invisible otherwise. */
export function tracePath(
  { x: xs, y: ys, count }: Pick<ThinnedLine, 'x' | 'y' | 'count'>,
  x: (value: number) => number,
  y: (value: number) => number,
  path: { moveTo(x: number, y: number): void; lineTo(x: number, y: number): void },
): void {
  let isDrawing = false;
  for (let index = 0; index < count; index++) {
    const [left, top] = [x(xs[index]), y(ys[index])];
    // The sum is NaN or infinite where either is.
    if (!Number.isFinite(left + top)) isDrawing = false;
    else if (isDrawing) path.lineTo(left, top);
    else {
      path.moveTo(left, top);
      if (index + 1 === count || !Number.isFinite(y(ys[index + 1]))) path.lineTo(left + 1, top);
      isDrawing = true;
    }
  }
}
