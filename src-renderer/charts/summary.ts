import { formatValue } from '../../core/text/numbers.ts';
import { formatPosition } from './series/readout.ts';
import type { Scene, SceneLine } from './scene/scene.ts';
import type { ChartAxis } from './types.ts';

/** The newest of them; all are in the chart's table. */
const maximumEvents = 5;

/** A chart in words, for those who cannot see it. */
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

/** `3 points outside`, of those that outlier clipping leaves out. */
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
  return `${series.label}: latest ${formatValue(y[series.length - 1])}, between ${formatValue(low)} and ${formatValue(high)}`;
}
