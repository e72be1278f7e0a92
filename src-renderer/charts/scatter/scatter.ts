import { pixels, type PlotAxis, valueAt } from '../scene/axes.ts';
import type { ChartProps, ChartRange, Colored, PointSymbol } from '../types.ts';
import { formatValue } from '../../../core/text/numbers.ts';
import { hundredths, type Place, type Plot, type PlotArea } from '../scene/plot.ts';
import { clamp } from '../columns.ts';

/** Points of one kind. The columns have the same length. */
export interface PointGroup extends Colored {
  label: string;
  symbol: PointSymbol;
  /** Behind the other groups, faint, and without an entry in the legend. */
  isFaded?: boolean;
  /** What the chart reports when a point is clicked or hovered. */
  ids: readonly number[];
  /** A NaN leaves the point out. */
  x: readonly number[];
  /** A NaN lies on the lower edge. */
  y: readonly number[];
  /** Half the length of the vertical bar through each point, such as a standard error; NaN for none. */
  errors?: readonly number[];
}

/** A line through points by ascending x. */
export interface PlotLine extends Colored {
  label: string;
  x: readonly number[];
  /** NaN is a gap. */
  y: readonly number[];
  /** Keeps each value until the next point. */
  isStep?: boolean;
  /** Many lines in one, with gaps between them; without an entry in the legend. */
  isThin?: boolean;
  /** Behind the other lines, and faint. */
  isFaded?: boolean;
  dash?: string;
}

/** A vertical line, e.g. at an optimum. */
export interface PlotMark extends Colored {
  x: number;
  label: string;
}

/** A rectangle of values; null leaves a direction open. */
export interface Brush {
  x: ChartRange | null;
  y: ChartRange | null;
}

export interface ScatterPlotProps extends ChartProps {
  x: PlotAxis;
  y: PlotAxis;
  groups: readonly PointGroup[];
  lines?: readonly PlotLine[];
  marks?: readonly PlotMark[];
  /** Shown as a rectangle; dragging makes a new one. */
  brush?: Brush;
  /** The point that stands out, here and in other charts of the same things. */
  hovered?: number | null;
  /** Stands beside the title while no point is hovered. */
  about?: string;
  /** False where a chart beside it has the same groups. */
  hasLegend?: boolean;
  /** What an id stands for, e.g. `trial`. */
  idName: string;
}

type Texts = Pick<ScatterPlotProps, 'groups' | 'x' | 'y' | 'idName'>;

/** `trial 17, complete: weightDecay 0.1, NLL 0.4101`; empty where no group has the point. */
export function readPoint({ groups, x, y, idName }: Texts, id: number): string {
  for (const { ids, label, ...columns } of groups) {
    const index = ids.indexOf(id);
    if (index === -1) continue;
    return (
      `${idName} ${id}, ${label}: ${x.label} ${spell(x, columns.x[index])}, ` +
      `${y.label} ${spell(y, columns.y[index])}`
    );
  }
  return '';
}

function spell(axis: PlotAxis, value: number): string {
  return nameOf(axis, value) ?? formatValue(value);
}

function nameOf({ ticks }: PlotAxis, value: number): string | undefined {
  return ticks?.find((tick) => tick.value === value)?.label;
}

export function tableColumns({ groups, x, y, idName }: Texts): string[] {
  return [idName, 'kind', x.label, y.label, ...(hasErrors(groups) ? ['standard error'] : [])];
}

/** One row for each point, by id. */
export function tableRows({ groups, x: axis }: Texts): (string | number)[][] {
  const withErrors = hasErrors(groups);
  return groups
    .flatMap(({ ids, label, x, y, errors }) =>
      ids.map((id, index) => ({
        id,
        cells: [label, nameOf(axis, x[index]) ?? x[index], y[index], ...(withErrors ? [errors?.[index] ?? NaN] : [])],
      })),
    )
    .toSorted((left, right) => left.id - right.id)
    .map(({ id, cells }) => [id, ...cells]);
}

function hasErrors(groups: readonly PointGroup[]): boolean {
  return groups.some(({ errors }) => errors !== undefined);
}

/** The SVG path of a line; of a stepped one with a corner at each point. A value that the axes cannot show is a gap. */
export function linePath({ x, y, isStep }: Pick<PlotLine, 'x' | 'y' | 'isStep'>, place: Place): string {
  let isDrawing = false;
  return x
    .map((value, index) => {
      const [left, top] = [hundredths(place.x(value)), hundredths(place.y(y[index]))];
      const wasDrawing = isDrawing;
      isDrawing = Number.isFinite(left + top);
      if (!isDrawing) return '';
      if (!wasDrawing) return `M${left} ${top}`;
      return isStep ? `H${left}V${top}` : `L${left} ${top}`;
    })
    .join('');
}

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
