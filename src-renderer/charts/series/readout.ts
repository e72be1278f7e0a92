import { formatDuration, formatValue } from '../../../core/text/numbers.ts';
import { indexAt } from '../points/columns.ts';
import type { Scene, SceneLine } from '../scene/scene.ts';
import type { ChartAxis, ReadoutValue } from '../types.ts';

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
