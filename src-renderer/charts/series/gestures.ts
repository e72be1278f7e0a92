import { clamp } from '../points/columns.ts';
import { panBy, pixels, valueAt, zoomAround } from '../scene/axes.ts';
import type { PlotArea } from '../scene/plot.ts';
import type { Scene } from '../scene/scene.ts';
import type { ChartRange, ChartViewState } from '../types.ts';
import { readoutAt } from './readout.ts';
import { nextRank } from './readout-rows.ts';

/** How near, in pixels, the pointer must be to a rank's line to single it out. */
const reach = 10;
/** One step of the cursor and of panning by keys, as shares of the visible width. */
const cursorStep = 0.01;
const panStep = 0.2;

/** What a key does: it moves the cursor (null hides it), singles out a rank's line, or zooms. */
export type KeyAction = { cursor: number | null } | { rank: number | null } | { zoom: ChartRange };

/**
 * Arrows to the sides move the cursor, with Shift the window; arrows up and down single out the next rank's line; + and - zoom around the
 * cursor; Home and End go to the ends; Escape and z clear. Other keys do nothing: null.
 */
export function keyAction(
  { key, shiftKey }: Pick<KeyboardEvent, 'key' | 'shiftKey'>,
  { cursorX, hoveredRank }: Pick<ChartViewState, 'cursorX' | 'hoveredRank'>,
  { x, whole, lines }: Pick<Scene, 'x' | 'whole' | 'lines'>,
): KeyAction | null {
  const at = cursorX === null ? 0.5 : pixels(x, 0, 1)(cursorX);
  const direction = key === 'ArrowLeft' ? -1 : 1;
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowRight':
      if (shiftKey) return { zoom: panBy(x, direction * panStep, whole) };
      return { cursor: valueAt(x, clamp(cursorX === null ? 0.5 : at + direction * cursorStep, 0, 1)) };
    case 'ArrowUp':
    case 'ArrowDown':
      if (cursorX === null || shiftKey) return null;
      return { rank: nextRank(readoutAt(lines, cursorX), hoveredRank, key === 'ArrowUp' ? 'up' : 'down') };
    case '+':
    case '=':
      return { zoom: zoomAround(x, clamp(at, 0, 1), 0.5, whole) };
    case '-':
      return { zoom: zoomAround(x, clamp(at, 0, 1), 2, whole) };
    case 'Home':
      return { cursor: x.from };
    case 'End':
      return { cursor: x.to };
    case 'z':
      return { zoom: whole };
    case 'Escape':
      // Without a cursor, Escape is for the dialog that shows the chart enlarged.
      return cursorX === null && hoveredRank === null ? null : { cursor: null };
    default:
      return null;
  }
}

/** The rank whose line is closest to a pixel's height at `x`, if one is within reach. */
export function rankNear(
  { lines, y }: Pick<Scene, 'lines' | 'y'>,
  area: PlotArea,
  x: number,
  pixel: number,
): number | null {
  const place = pixels(y, area.bottom, area.top);
  const distances = readoutAt(lines, x)
    .map(({ rank, value }) => ({ rank, distance: Math.abs(place(value) - pixel) }))
    .filter(({ distance }) => distance <= reach)
    .sort((a, b) => a.distance - b.distance);
  return distances.at(0)?.rank ?? null;
}

/** Where a pixel lies between the plot's left (0) and right (1) edge; pixels beyond an edge count as on it. */
export function fractionAt({ left, right }: PlotArea, pixel: number): number {
  return (clamp(pixel, left, right) - left) / (right - left);
}

/** A zoom of all of x is none; an empty one is refused, which leaves `zoom`. */
export function zoomedTo(range: ChartRange, whole: ChartRange, zoom: ChartRange | null): ChartRange | null {
  if (!(range.to > range.from)) return zoom;
  return range.from <= whole.from && range.to >= whole.to ? null : range;
}
