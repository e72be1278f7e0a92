import { formatValue } from '../../../core/text/numbers.ts';
import { fractionOf, pixels, type PlotAxis } from '../scene/axes.ts';
import { hundredths, type Place } from '../scene/plot.ts';
import type { ChartProps, ChartRange, Colored } from '../types.ts';

/** How near, in pixels, the pointer must be to a line's point on an axis. */
const reach = 8;

/**
 * All lines of a group as one SVG path. A value that is NaN, or that its axis cannot show, interrupts its line; a value
 * between two gaps becomes a short stroke.
 */
export function parallelPath(
  rows: readonly (readonly number[])[],
  axes: readonly Pick<ParallelAxis, 'scale'>[],
  place: Place,
): string {
  const heights = axes.map(({ scale }) => pixels(scale, place.y(0), place.y(1)));
  const lefts = axes.map((_, axis) => hundredths(place.x(axis)));
  return rows
    .map((row) => {
      const tops = row.map((value, axis) => hundredths(heights[axis](value)));
      return tops.map((top, axis) => commandAt(tops, axis, lefts[axis], top)).join('');
    })
    .join('');
}

function commandAt(tops: readonly number[], axis: number, left: number, top: number): string {
  if (!Number.isFinite(top)) return '';
  if (axis > 0 && Number.isFinite(tops[axis - 1])) return `L${left} ${top}`;
  const isAlone = axis + 1 === tops.length || !Number.isFinite(tops[axis + 1]);
  return isAlone ? `M${left - 3} ${top}h6` : `M${left} ${top}`;
}

/** The id whose line meets the nearest axis closest to a point in pixels, or null. */
export function lineNear(
  { axes, groups }: Pick<ParallelCoordinatesProps, 'axes' | 'groups'>,
  place: Place,
  left: number,
  top: number,
): number | null {
  const spacing = place.x(1) - place.x(0);
  const at = Math.round((left - place.x(0)) / spacing);
  if (at < 0 || at >= axes.length) return null;
  const height = pixels(axes[at].scale, place.y(0), place.y(1));
  let [nearest, least]: [number | null, number] = [null, reach];
  for (const { ids, rows } of groups.filter(({ isFaded }) => isFaded !== true)) {
    for (const [index, row] of rows.entries()) {
      const distance = Math.abs(height(row[at]) - top);
      if (distance <= least) [nearest, least] = [ids[index], distance];
    }
  }
  return nearest;
}

/** `trial 17`, or the name of the line where it has one. */
function nameLine({ idName, nameOf }: Pick<ParallelCoordinatesProps, 'idName' | 'nameOf'>, id: number): string {
  return nameOf?.(id) ?? `${idName} ${id}`;
}

/** `trial 17: weightDecay 0.1, NLL 0.4101`; empty where no group has the line. */
export function readLine(
  { axes, groups, ...naming }: Omit<ParallelCoordinatesProps, 'title' | 'runName'>,
  id: number,
): string {
  for (const { ids, rows } of groups) {
    const index = ids.indexOf(id);
    if (index === -1) continue;
    const values = axes.flatMap((axis, at) =>
      Number.isNaN(rows[index][at]) ? [] : [`${axis.label} ${spellOn(axis, rows[index][at])}`],
    );
    return `${nameLine(naming, id)}: ${values.join(', ')}`;
  }
  return '';
}

/** A value with the name that its axis gives it. */
export function spellOn({ ticks }: PlotAxis, value: number): string {
  return ticks?.find((tick) => tick.value === value)?.label ?? formatValue(value);
}

/** `0.01 to 1`, or the names of the choices in the range. */
export function spellRange(axis: PlotAxis, { from, to }: ChartRange): string {
  if (axis.ticks === undefined) return `${spellOn(axis, from)} to ${spellOn(axis, to)}`;
  const names = axis.ticks.filter(({ value }) => value >= from && value <= to).map(({ label }) => label);
  return names.join(' or ') || 'none';
}

/** The range of an axis as two shares of it; [0, 1] without a brush. */
export function sharesOf({ scale, brush }: ParallelAxis): [from: number, to: number] {
  if (brush === null) return [0, 1];
  const share = (value: number): number => Math.min(Math.max(fractionOf(scale, value), 0), 1);
  return [share(brush.from), share(brush.to)];
}

/** One of the parallel axes. */
export interface ParallelAxis extends PlotAxis {
  id: string;
  /** The selected values; null: all. */
  brush: ChartRange | null;
  /** How far a key moves an end of the brush, as a share of the axis. */
  keyStep: number;
}

/** Lines of one kind: a row of values for each, one value for each axis. A NaN interrupts the line. */
export interface ParallelGroup extends Colored {
  label: string;
  /** Behind the other groups, faint, and without an entry in the legend. */
  isFaded?: boolean;
  opacity: number;
  width: number;
  ids: readonly number[];
  rows: readonly (readonly number[])[];
}

export interface ParallelCoordinatesProps extends ChartProps {
  axes: readonly ParallelAxis[];
  groups: readonly ParallelGroup[];
  /** The line that stands out. */
  hovered?: number | null;
  /** What an id stands for, e.g. `trial`. */
  idName: string;
  /** Names of single lines, in place of their ids. */
  nameOf?: (id: number) => string;
  /** False where something beside it says what the colours mean. */
  hasLegend?: boolean;
}

/** An end of a selected range. */
export type BrushEnd = 'from' | 'to';

/** Where a key moves an end to, as a share of the axis; null for a key that does not move it. */
export function movedByKey(key: string, share: number, step: number): number | null {
  switch (key) {
    case 'ArrowUp':
    case 'ArrowRight':
      return Math.min(share + step, 1);
    case 'ArrowDown':
    case 'ArrowLeft':
      return Math.max(share - step, 0);
    case 'PageUp':
      return Math.min(share + 5 * step, 1);
    case 'PageDown':
      return Math.max(share - 5 * step, 0);
    case 'Home':
      return 0;
    case 'End':
      return 1;
    default:
      return null;
  }
}

/** The range with one end moved. It does not pass the other end. */
export function withEnd([from, to]: [number, number], end: BrushEnd, share: number): [number, number] {
  return end === 'from' ? [Math.min(share, to), to] : [from, Math.max(share, from)];
}
