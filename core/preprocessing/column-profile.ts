import { type Bar, type ColumnProfile, type ProfiledColumn, type Shown } from './profile.ts';
import { type ColumnReading, orderClasses } from './reading.ts';

const msPerDay = 86_400_000;
const mostExamples = 5;
const mostBars = 12;

/** Cells that do not fit their column's type. */
export type Misfits = Pick<ColumnProfile, 'misfits' | 'misfitCount'>;

/** What a column holds. @param column its values; NaN or null where one is missing or does not fit */
export function profileColumn(reading: ColumnReading, column: ProfiledColumn, misfits: Misfits): ColumnProfile {
  const { values } = column;
  return {
    ...reading,
    ...(values instanceof Float64Array ? profileNumbers(values, column.type) : profileTexts(values)),
    ...misfits,
  };
}

type OwnProfile = Pick<ColumnProfile, 'present' | 'distinctValues' | 'range' | 'examples' | 'bars'>;

function profileNumbers(values: Float64Array, type: ColumnProfile['type']): OwnProfile {
  const present = values.filter((value) => !Number.isNaN(value));
  const sorted = present.toSorted();
  const distinctValues = countRuns(sorted);
  const show = (value: number): Shown => shownValue(value, type);
  return {
    present: present.length,
    distinctValues,
    range:
      sorted.length === 0
        ? null
        : { smallest: show(sorted[0]), median: show(medianOf(sorted, type)), largest: show(sorted[sorted.length - 1]) },
    examples: firstDistinct(present).map(show),
    bars: histogram(sorted, distinctValues, show),
  };
}

function profileTexts(values: readonly (string | null)[]): OwnProfile {
  const present = values.filter((value) => value !== null);
  const distinct = new Set(present);
  return {
    present: present.length,
    distinctValues: distinct.size,
    range: null,
    examples: firstDistinct(present),
    bars: countedBars(present),
  };
}

/** A value as a person reads it: dates in ISO 8601, booleans as words. */
export function shownValue(value: number, type: ColumnProfile['type']): Shown {
  if (type === 'boolean') return value === 1 ? 'true' : 'false';
  if (type !== 'date') return value;
  const time = new Date(Math.round(value * msPerDay));
  const text = time.toISOString();
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, text.indexOf('T')) : text.replace('.000Z', 'Z');
}

/**
 * The median of sorted values: of an even number of them, the mean of the two in the middle, of two dates the first,
 * whose mean is a time of day that no cell has.
 */
function medianOf(sorted: Float64Array, type: ColumnProfile['type']): number {
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle];
  return type === 'date' ? sorted[middle - 1] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Counts of equal ranges from the smallest to the largest value; of few whole numbers, one bar each.
 * @param sorted shape `[N]`
 */
function histogram(sorted: Float64Array, distinctValues: number, show: (value: number) => Shown): Bar[] {
  if (sorted.length === 0) return [];
  const [smallest, largest] = [sorted[0], sorted[sorted.length - 1]];
  if (distinctValues <= mostBars) {
    const counts = new Map<number, number>();
    for (const value of sorted) counts.set(value, (counts.get(value) ?? 0) + 1);
    return [...counts].map(([value, count]) => ({ label: String(show(value)), count }));
  }
  const width = (largest - smallest) / mostBars;
  const counts = Array.from({ length: mostBars }, () => 0);
  for (const value of sorted) counts[Math.min(mostBars - 1, Math.floor((value - smallest) / width))]++;
  return counts.map((count, i) => ({ label: `from ${show(rounded(smallest + i * width, width))}`, count }));
}

/** Rounds to a hundredth of the bar's width, so that labels stay short. */
function rounded(value: number, width: number): number {
  const digits = Math.max(0, Math.min(15, 2 - Math.floor(Math.log10(width))));
  return Number(value.toFixed(digits));
}

/** The first distinct values. */
function firstDistinct<T>(values: Iterable<T>): T[] {
  const found = new Set<T>();
  for (const value of values) {
    found.add(value);
    if (found.size >= mostExamples) break;
  }
  return [...found];
}

/** The number of distinct values among sorted ones. */
export function countRuns(sorted: Float64Array): number {
  let count = 0;
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) count++;
  return count;
}

/** The most frequent texts, in the order of classes, and one bar for the others. */
function countedBars(texts: readonly string[]): Bar[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  if (counts.size <= mostBars) {
    return orderClasses(counts.keys()).map((label) => ({ label, count: counts.get(label) ?? 0 }));
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a).map(([label, count]) => ({ label, count }));
  const others = sorted.slice(mostBars - 1).reduce((sum, { count }) => sum + count, 0);
  const label = `${counts.size - mostBars + 1} others`;
  return [...sorted.slice(0, mostBars - 1), { label, count: others }];
}
