import { clamp } from '../points/columns.ts';
import { hundredths, type Place, type PlotArea } from '../scene/plot.ts';
import type { PointSymbol } from '../types.ts';
import type { PointGroup } from './types.ts';

/** A point of a group where it is drawn, in pixels. */
export interface PlacedPoint {
  id: number;
  left: number;
  top: number;
}

/** Distance of values that the axis cannot show from its edge, in pixels. */
const edge = 5;

/**
 * Where the points of a group are drawn. What lies beyond the axes is on their edges, values that are NaN on the lower
 * one.
 */
export function placePoints({ ids, x, y }: PointGroup, place: Place, area: PlotArea): PlacedPoint[] {
  return ids.flatMap((id, index) => {
    const left = place.x(x[index]);
    if (!Number.isFinite(left)) return [];
    const top = place.y(y[index]);
    const visible = Number.isFinite(top) ? top : y[index] === Infinity ? area.top + edge : area.bottom - edge;
    return [{ id, left: clamp(left, area.left, area.right), top: clamp(visible, area.top, area.bottom) }];
  });
}

/** Shapes around a point at the origin of relative commands. A dot is a stroke of no length with round ends. */
const shapes: Record<PointSymbol, string> = {
  dot: 'h0',
  ring: 'm-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0',
  cross: 'm-3 -3l6 6m-6 0l6 -6',
  bars: 'm-2 -3.5v7m4 -7v7',
  arrow: 'm-3 -3.5l6 3.5l-6 3.5z',
};

/** All points of a group as one SVG path: thousands of elements would make a page slow. */
export function symbolPath(symbol: PointSymbol, points: readonly PlacedPoint[]): string {
  const shape = shapes[symbol];
  return points.map(({ left, top }) => `M${hundredths(left)} ${hundredths(top)}${shape}`).join('');
}

/** The width of the stroke that draws a symbol, in pixels. */
export function symbolWidth(symbol: PointSymbol): number {
  return symbol === 'dot' ? 6 : 1.5;
}

/** The vertical bars of the errors around the points, as one SVG path. */
export function errorPath({ x, y, errors }: PointGroup, place: Place): string {
  if (errors === undefined) return '';
  return errors
    .map((error, index) => [place.x(x[index]), place.y(y[index] - error), place.y(y[index] + error)].map(hundredths))
    .filter((pixels) => pixels.every(Number.isFinite))
    .map(([left, low, high]) => `M${left} ${low}V${high}`)
    .join('');
}

/** The nearest point within `reach` pixels, or null. */
export function nearestPoint(
  points: readonly PlacedPoint[],
  left: number,
  top: number,
  reach = 12,
): PlacedPoint | null {
  let [nearest, least]: [PlacedPoint | null, number] = [null, reach];
  for (const point of points) {
    const distance = Math.hypot(point.left - left, point.top - top);
    if (distance <= least) [nearest, least] = [point, distance];
  }
  return nearest;
}

/** Where the point with an id is drawn; null where no group has it. */
export function findPoint(groups: readonly PointGroup[], id: number, place: Place, area: PlotArea): PlacedPoint | null {
  for (const group of groups) {
    const index = group.ids.indexOf(id);
    if (index === -1) continue;
    const alone = { ...group, ids: [id], x: [group.x[index]], y: [group.y[index]] };
    return placePoints(alone, place, area).at(0) ?? null;
  }
  return null;
}
