import { clamp } from '../points/columns.ts';
import { pixels, valueAt } from '../scene/axes.ts';
import type { Plot } from '../scene/plot.ts';
import type { ChartRange } from '../types.ts';
import type { Brush } from './types.ts';

/** A rectangle in pixels. */
export interface Rectangle {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Smaller than this in a direction, a rectangle selects nothing there, in pixels. */
export const minimumDrag = 4;

/** The values that a rectangle of pixels encloses. A direction in which it is hardly wide stays open. */
export function brushOf({ left, top, width, height }: Rectangle, { x, y, area }: Plot): Brush {
  const across = (pixel: number): number => (pixel - area.left) / (area.right - area.left);
  const upward = (pixel: number): number => (area.bottom - pixel) / (area.bottom - area.top);
  return {
    x: width < minimumDrag ? null : { from: valueAt(x, across(left)), to: valueAt(x, across(left + width)) },
    y: height < minimumDrag ? null : { from: valueAt(y, upward(top + height)), to: valueAt(y, upward(top)) },
  };
}

/** The rectangle of pixels that a brush covers, cut to the plot; null without a brush. */
export function rectangleOfBrush({ x, y }: Brush, plot: Plot): Rectangle | null {
  if (x === null && y === null) return null;
  const { area } = plot;
  const span = (scale: Plot['x'], range: ChartRange | null, start: number, end: number): [number, number] => {
    if (range === null) return [Math.min(start, end), Math.max(start, end)];
    const place = pixels(scale, start, end);
    const ends = [place(range.from), place(range.to)].map((pixel) =>
      clamp(Number.isNaN(pixel) ? start : pixel, Math.min(start, end), Math.max(start, end)),
    );
    return [Math.min(...ends), Math.max(...ends)];
  };
  const [left, right] = span(plot.x, x, area.left, area.right);
  const [top, bottom] = span(plot.y, y, area.bottom, area.top);
  return { left, top, width: right - left, height: bottom - top };
}
