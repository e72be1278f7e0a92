import { formatBytes, formatCount, formatValue } from '../text/numbers.ts';
import { printable, printableLine } from '../text/printable.ts';
import { imageLines, type ImageProfile } from './image-profile.ts';
import type { ColumnProfile, Finding, Shown, TableProfile } from './profile.ts';
import { readingText } from './reading.ts';

const blocks = '▁▂▃▄▅▆▇█';
const longestName = 24;
const longestExample = 28;

/** A profile for a terminal: how the data were read, a line for each column or class, and the findings. */
export function profileText(profile: TableProfile | ImageProfile): string {
  const { findings } = profile;
  const lines = findings.length === 0 ? ['Nothing stands out.'] : findings.flatMap(findingLines);
  return [contentText(profile), '', ...lines].join('\n');
}

/** A profile without its findings. */
export function contentText(profile: TableProfile | ImageProfile): string {
  return (profile.kind === 'table' ? tableLines(profile) : imageLines(profile)).join('\n');
}

function tableLines({ reading, bytes, columns, target, time }: TableProfile): string[] {
  const [sentence] = readingText(reading).split('\n');
  return [
    `${sentence} ${formatBytes(bytes)}.`,
    '',
    ...aligned([head, ...columns.map(cellsOf)]),
    ...(target === null ? [] : ['', `Target: ${printable(target.name)} (${target.reason}).`]),
    ...(time === null ? [] : [`Time: ${printable(time.name)} (${time.reason}).`]),
  ];
}

const head = ['column', 'type', 'missing', 'distinct', 'smallest', 'median', 'largest', 'values'];

function cellsOf(column: ColumnProfile): string[] {
  const { name, type, missing, misfitCount, distinctValues, range } = column;
  const absent = Object.values(missing).reduce((sum, count) => sum + count, 0) + misfitCount;
  const numbers = range === null ? ['', '', ''] : [range.smallest, range.median, range.largest].map(shown);
  const counts = [absent === 0 ? '' : formatCount(absent), formatCount(distinctValues)];
  return [shortened(name, longestName), type, ...counts, ...numbers, valuesOf(column)];
}

/** A chart of numbers, or the most frequent texts. */
function valuesOf({ type, bars, examples }: ColumnProfile): string {
  if (type === 'number' || type === 'date') return spark(bars.map(({ count }) => count));
  if (type === 'text') return shortened(String(examples[0] ?? ''), longestExample);
  return bars
    .toSorted((a, b) => b.count - a.count)
    .slice(0, 3)
    .map(({ label, count }) => `${shortened(label, 12)} ${formatCount(count)}`)
    .join(', ');
}

function spark(counts: readonly number[]): string {
  const largest = Math.max(1, ...counts);
  return counts.map((count) => (count === 0 ? ' ' : blocks[Math.ceil((count / largest) * blocks.length) - 1])).join('');
}

const shown = (value: Shown): string => (typeof value === 'number' ? formatValue(value) : value);

function shortened(text: string, length: number): string {
  const own = printableLine(text);
  return own.length <= length ? own : `${own.slice(0, length - 1)}…`;
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  // Numbers stand at the right of their column.
  const isRight = (i: number): boolean => i >= 2 && i <= 6;
  return rows.map((row) =>
    row
      .map((cell, i) => (isRight(i) ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
      .join('  ')
      .trimEnd(),
  );
}

function findingLines({ level, message, option }: Finding): string[] {
  return [`${level}: ${printable(message)}`, ...(option === null ? [] : [`  ${printable(option)}`])];
}
