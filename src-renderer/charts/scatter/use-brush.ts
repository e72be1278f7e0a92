import { computed, type ComputedRef, ref } from 'vue';
import { pixels, valueAt } from '../scene/axes.ts';
import type { Plot } from '../scene/plot.ts';
import { clamp } from '../series/gestures.ts';
import type { ChartRange } from '../types.ts';
import type { Brush } from './types.ts';

/** A drag shorter than this in both directions is a click, in pixels. */
const minimumDrag = 4;

interface Corner {
  left: number;
  top: number;
}

/** A rectangle in pixels. */
export interface Rectangle extends Corner {
  width: number;
  height: number;
}

export interface Dragging {
  /** What a drag would select; null while none goes on. */
  selection: ComputedRef<Rectangle | null>;
  begin(event: PointerEvent): void;
  move(event: PointerEvent, plot: Plot): void;
  /** @returns the values that the drag enclosed, null for a click; or null where the pointer was not pressed here */
  end(plot: Plot): { brush: Brush | null } | null;
}

/** A rectangle that the pointer draws over a plot. */
export function useBrush(): Dragging {
  const corners = ref<[Corner, Corner] | null>(null);
  const selection = computed(() => (corners.value === null ? null : rectangleOf(...corners.value)));

  function begin(event: PointerEvent): void {
    if (event.button !== 0 || !(event.currentTarget instanceof Element)) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const corner = { left: event.offsetX, top: event.offsetY };
    corners.value = [corner, corner];
  }

  function move({ offsetX, offsetY }: PointerEvent, { area }: Plot): void {
    if (corners.value === null) return;
    const corner = { left: clamp(offsetX, area.left, area.right), top: clamp(offsetY, area.top, area.bottom) };
    corners.value = [corners.value[0], corner];
  }

  function end(plot: Plot): { brush: Brush | null } | null {
    const drawn = selection.value;
    corners.value = null;
    if (drawn === null) return null;
    return { brush: Math.max(drawn.width, drawn.height) < minimumDrag ? null : brushOf(drawn, plot) };
  }
  return { selection, begin, move, end };
}

function rectangleOf(one: Corner, other: Corner): Rectangle {
  return {
    left: Math.min(one.left, other.left),
    top: Math.min(one.top, other.top),
    width: Math.abs(one.left - other.left),
    height: Math.abs(one.top - other.top),
  };
}

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
