import { formatDuration, formatValue } from '../../../core/text/numbers.ts';
import { nearestIndex } from '../points/columns.ts';
import type { PreparedLine } from '../points/series-lines.ts';
import type { ChartAxis, ReadoutValue } from '../types.ts';

/** What each line shows at the cursor: the value of its nearest point. A line without points has none. */
export function readoutAt(lines: readonly PreparedLine[], x: number): ReadoutValue[] {
  return lines.flatMap(({ series, x: column, y }) => {
    const index = nearestIndex(column, series.length, x);
    const { id, label, role, rank = null } = series;
    return index === -1 ? [] : [{ id, label, role, rank, value: y[index] }];
  });
}

/** `step 12,340`, `epoch 3.2`, `1 h 04 m`. */
export function formatPosition(axis: ChartAxis, x: number): string {
  if (axis === 'time') return formatDuration(x);
  const rounded = axis === 'step' ? Math.round(x) : Number(x.toFixed(2));
  return `${axis} ${rounded.toLocaleString('en-US')}`;
}

/** The ensemble's value and the range of the ranks', for the line above a chart; the chart's title names a line that is alone. */
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
