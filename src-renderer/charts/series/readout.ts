import { formatDuration, formatValue } from '../../../core/text/numbers.ts';
import { clamp, indexAt } from '../columns.ts';
import type { Scene, SceneLine } from '../scene/scene.ts';
import type { ChartAxis, LineStyle, ReadoutValue } from '../types.ts';

/**
 * The value of each line's point nearest to the cursor. A line without points has none, nor one that ended before the
 * cursor.
 */
export function readoutAt(lines: readonly SceneLine[], x: number): ReadoutValue[] {
  return lines.flatMap(({ series, x: column, y, style }) => {
    const index = indexAt(column, series.length, x);
    const { id, label, role, rank = null } = series;
    return index === -1 ? [] : [{ id, label, role, rank, x: column[index], value: y[index], style }];
  });
}

/** `step 12,340`, `epoch 3.2`, `1 h 04 m`. */
export function formatPosition(axis: ChartAxis, x: number): string {
  if (axis === 'time') return formatDuration(x);
  const rounded = axis === 'step' ? Math.round(x) : Number(x.toFixed(2));
  return `${axis} ${rounded.toLocaleString('en-US')}`;
}

/**
 * The ensemble's value and the range of the ranks' values, for the heading of a chart. The title already names a single
 * line.
 */
export function readoutSentence(values: readonly ReadoutValue[]): string {
  if (values.length === 1) return formatValue(values[0].value);
  const others = values
    .filter(({ role }) => role !== 'rank')
    .map(({ label, value }) => `${label} ${formatValue(value)}`);
  const members = values
    .filter(({ role, value }) => role === 'rank' && Number.isFinite(value))
    .map(({ value }) => value);
  if (members.length === 1) others.push(`member ${formatValue(members[0])}`);
  if (members.length > 1)
    others.push(`members ${formatValue(Math.min(...members))} to ${formatValue(Math.max(...members))}`);
  return others.join(' · ');
}

/** Only the newest events; the chart's table has all of them. */
const maximumEvents = 5;

/** A chart in words, for screen readers. */
export function summarize(title: string, axis: ChartAxis, scene: Scene): string {
  const { lines, x, events, outside } = scene;
  if (lines.every(({ thinned }) => thinned.count === 0)) return `${title}: no points yet.`;
  const span = `${formatPosition(axis, x.from)} to ${formatPosition(axis, x.to)}`;
  const bold = lines.filter(({ series }) => series.role !== 'rank').map(describeLine);
  const members = lines.filter(({ series }) => series.role === 'rank').map(({ y, series }) => y[series.length - 1]);
  const finite = members.filter(Number.isFinite);
  if (finite.length > 0) {
    const [low, high] = [Math.min(...finite), Math.max(...finite)];
    bold.push(`${ranks(members.length)}, latest from ${formatValue(low)} to ${formatValue(high)}`);
  }
  if (finite.length < members.length) bold.push(`${ranks(members.length - finite.length)} at no finite value`);
  if (outside > 0) bold.push(spellOutside(outside));
  const marked = events.filter((event) => event.x >= x.from && event.x <= x.to).slice(-maximumEvents);
  if (marked.length > 0) {
    bold.push(`Marked: ${marked.map((event) => `${event.label} at ${formatPosition(axis, event.x)}`).join(', ')}`);
  }
  return `${title}, ${span}. ${bold.map((part) => `${part}.`).join(' ')}`;
}

/** `3 points outside`, for points that outlier clipping leaves out. */
export function spellOutside(count: number): string {
  return `${formatValue(count)} ${count === 1 ? 'point' : 'points'} outside`;
}

function ranks(count: number): string {
  return count === 1 ? '1 rank' : `${count} ranks`;
}

function describeLine({ series, y, thinned }: SceneLine): string {
  const visible = thinned.y.subarray(0, thinned.count).filter(Number.isFinite);
  if (visible.length === 0) return `${series.label}: no finite value`;
  const [low, high] = visible.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity],
  );
  return (
    `${series.label}: latest ${formatValue(y[series.length - 1])}, between ${formatValue(low)} ` +
    `and ${formatValue(high)}`
  );
}

/** A line's value in the box beside a plot. */
interface ReadoutRow {
  id: string;
  label: string;
  value: number;
  /** The value minus that of the ensemble; null for the ensemble, and where there is none. */
  distance: number | null;
  style: LineStyle;
  /** Whether the pointer or the keys single out its line. */
  isLit: boolean;
}

export interface Readout {
  rows: ReadoutRow[];
  /** How many lines are between those of the rows. */
  leftOut: number;
}

/** Of more lines beside the ensemble, the box has the largest, the smallest and the one that is singled out. */
const mostRows = 8;

/**
 * The box's rows from the largest value to the smallest, as the lines lie on the plot; last those that are not finite.
 */
export function readoutRows(values: readonly ReadoutValue[], litRank: number | null): Readout {
  const ensemble = values.find(({ role }) => role === 'ensemble')?.value ?? NaN;
  const sorted = values.toSorted((a, b) => sortKey(b.value) - sortKey(a.value));
  const members = sorted.filter(isMember);
  const isFew = members.length <= mostRows;
  const finite = members.filter(({ value }) => Number.isFinite(value));
  const ends = new Set([finite.at(0), finite.at(-1)]);
  const isLit = ({ rank }: ReadoutValue): boolean => rank !== null && rank === litRank;
  const shown = sorted.filter((value) => isFew || !isMember(value) || isLit(value) || ends.has(value));
  const rows = shown.map((value): ReadoutRow => {
    const distance = value.value - ensemble;
    const { id, label, style } = value;
    const hasDistance = value.role !== 'ensemble' && Number.isFinite(distance);
    return { id, label, value: value.value, distance: hasDistance ? distance : null, style, isLit: isLit(value) };
  });
  return { rows, leftOut: sorted.length - rows.length };
}

function isMember({ role }: ReadoutValue): boolean {
  return role === 'rank' || role === 'other';
}

function sortKey(value: number): number {
  return Number.isNaN(value) ? -Number.MAX_VALUE : Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value));
}

/** `+0.0123`, `−0.0004`: three digits, with a sign. */
export function formatDistance(distance: number): string {
  if (distance === 0) return '0';
  const size = Number(Math.abs(distance).toPrecision(3));
  const text =
    size >= 1e-4 && size < 1e6 ? size.toLocaleString('en-US', { maximumFractionDigits: 7 }) : formatValue(size);
  return `${distance > 0 ? '+' : '−'}${text}`;
}

/**
 * The rank whose line is the next one above or below the lit one at the cursor; without a lit one, the highest or the
 * lowest.
 */
export function nextRank(
  values: readonly ReadoutValue[],
  litRank: number | null,
  direction: 'up' | 'down',
): number | null {
  const ascending = values
    .filter(({ rank, value }) => rank !== null && Number.isFinite(value))
    .toSorted((a, b) => a.value - b.value);
  const ranks = direction === 'up' ? ascending : ascending.toReversed();
  const place = ranks.findIndex(({ rank }) => rank === litRank);
  return ranks.at(place === -1 ? -1 : Math.min(place + 1, ranks.length - 1))?.rank ?? null;
}

/**
 * What a screen reader says at the cursor: the ensemble, the range of the members, and the line that is singled out.
 */
export function spokenReadout(values: readonly ReadoutValue[], { rows }: Readout): string {
  const lit = rows.find(({ isLit }) => isLit);
  if (lit === undefined) return readoutSentence(values);
  const distance =
    lit.distance === null
      ? ''
      : `, ${formatDistance(Math.abs(lit.distance)).replace('+', '')} ${lit.distance < 0 ? 'below' : 'above'} ` +
        'the ensemble';
  return `${readoutSentence(values)}; ${lit.label} ${formatValue(lit.value)}${distance}`;
}

interface Rectangle {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Between the chart, the box and the borders of the window, in pixels. */
const gap = 16;
const border = 4;

/**
 * Where a box beside a chart begins, in pixels of the window: to the right of it, else to its left, else below or above
 * it. It covers the chart only where no side has room.
 */
export function placeBeside(
  chart: Rectangle,
  box: { width: number; height: number },
  window: { width: number; height: number },
): { left: number; top: number } {
  const top = clamp(chart.top, border, Math.max(border, window.height - box.height - border));
  if (chart.right + gap + box.width + border <= window.width) return { left: chart.right + gap, top };
  if (chart.left - gap - box.width - border >= 0) return { left: chart.left - gap - box.width, top };
  const left = clamp(chart.left, border, Math.max(border, window.width - box.width - border));
  const isBelow = chart.bottom + gap + box.height + border <= window.height;
  const isAbove = chart.top - gap - box.height - border >= 0;
  if (!isBelow && isAbove) return { left, top: chart.top - gap - box.height };
  return { left, top: Math.min(chart.bottom + gap, Math.max(border, window.height - box.height - border)) };
}
