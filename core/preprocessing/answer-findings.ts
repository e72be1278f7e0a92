import { leastRows, typed } from './column-findings.ts';
import type { ColumnProfile, Finding, ProfiledColumn, ProfiledTable } from './profile.ts';

/** Columns that give the answer away, so that a model which learns from them is of no use for new samples. */

/** A class with fewer rows is rare: a test split of a fifth has one or two of them. */
export const fewRows = 10;
/** Rows that share a value of a feature, on average: with fewer, a feature determines classes by chance. */
export const leastShared = 5;
/** |r| of a column that is the target in another unit, or follows it; rounding takes a little from 1. */
const nearlyOne = 0.999;
/** So many rows show whether two columns rise together. */
const mostRanked = 10_000;

/** A column that gives the class away: each of its values, or each side of a threshold, has one class. */
export function determined(
  target: ColumnProfile,
  classes: readonly (string | null)[],
  column: ColumnProfile,
  own: ProfiledColumn,
): Finding[] {
  if (classes.length < leastRows) return [];
  const [name, wanted] = [column.name, target.name].map((text) => JSON.stringify(text));
  if (areApartByHoles(own.values, classes))
    return [answer(column.name, `Whether ${name} has a value tells ${wanted} in every row`)];
  if (column.type === 'text' || column.distinctValues < 2) return [];
  const isGiven =
    own.values instanceof Float64Array
      ? areApart(own.values, classes)
      : column.distinctValues * leastShared <= column.present && hasOneClass(own.values, classes);
  return isGiven ? [answer(column.name, `${name} alone tells ${wanted} in every row`)] : [];
}

/** Whether rows with a value are of one class, and rows without one of another. */
function areApartByHoles(values: ProfiledColumn['values'], classes: readonly (string | null)[]): boolean {
  const [missing, present]: string[][] = [[], []];
  for (const [row, own] of classes.entries()) {
    const value = values[row];
    if (own !== null) (value === null || Number.isNaN(value) ? missing : present).push(own);
  }
  if (missing.length < fewRows || present.length < fewRows || missing[0] === present[0]) return false;
  return [missing, present].every(([first, ...others]) => others.every((own) => own === first));
}

function hasOneClass(values: readonly (string | null)[], classes: readonly (string | null)[]): boolean {
  const known = new Map<string, string>();
  return values.every((value, row) => {
    const own = classes[row];
    if (value === null || own === null) return true;
    const other = known.get(value) ?? own;
    known.set(value, other);
    return other === own;
  });
}

/** Whether the classes lie in ranges that do not overlap. */
function areApart(values: Float64Array, classes: readonly (string | null)[]): boolean {
  const ranges = new Map<string, { smallest: number; largest: number }>();
  let rows = 0;
  for (const [row, own] of classes.entries()) {
    const value = values[row];
    if (own === null || Number.isNaN(value)) continue;
    rows++;
    const range = ranges.get(own);
    if (range === undefined) ranges.set(own, { smallest: value, largest: value });
    else if (value < range.smallest) range.smallest = value;
    else if (value > range.largest) range.largest = value;
  }
  if (ranges.size < 2 || rows < ranges.size * fewRows) return false;
  const sorted = [...ranges.values()].sort((a, b) => a.smallest - b.smallest);
  return sorted.every(({ smallest }, i) => i === 0 || smallest > sorted[i - 1].largest);
}

/** A column that is the target of numbers in another unit, or rises or falls with it. */
export function correlated(
  { columns, values }: ProfiledTable,
  at: number,
  column: ColumnProfile,
  own: ProfiledColumn,
): Finding[] {
  const [x, y] = [own.values, values[at].values];
  if (!(x instanceof Float64Array && y instanceof Float64Array) || x.length < leastRows) return [];
  const [name, wanted] = [column.name, columns[at].name].map((text) => JSON.stringify(text));
  const r = correlation(x, y);
  if (Math.abs(r) >= nearlyOne)
    return [answer(column.name, `${name} is ${wanted} in another unit (correlation ${r.toFixed(5)})`)];
  const rho = rankCorrelation(x, y);
  if (!(Math.abs(rho) >= nearlyOne)) return [];
  const ways = rho > 0 ? `rises with ${wanted}` : `falls as ${wanted} rises`;
  return [answer(column.name, `${name} ${ways} (rank correlation ${rho.toFixed(5)})`)];
}

function answer(column: string, fact: string): Finding {
  const message = `${fact}. If it is known only after the answer, a model that learns from it is of no use for new samples.`;
  return { level: 'warning', kind: 'answer', column, message, choices: null, option: typed(column, 'ignore') };
}

/** Spearman's rank correlation over evenly drawn rows that have both values; NaN where there are too few. */
function rankCorrelation(x: Float64Array, y: Float64Array): number {
  const step = Math.ceil(x.length / mostRanked);
  const rows = Array.from(x.keys()).filter((row) => row % step === 0 && !Number.isNaN(x[row] + y[row]));
  if (rows.length < leastRows) return Number.NaN;
  const [ranksOfX, ranksOfY] = [x, y].map((values) => ranksOf(Float64Array.from(rows, (row) => values[row])));
  return correlation(ranksOfX, ranksOfY);
}

/** The position of each value in their order, from 0; equal values share the mean of theirs. */
function ranksOf(values: Float64Array): Float64Array {
  const order = Uint32Array.from(values.keys()).sort((a, b) => values[a] - values[b]);
  const ranks = new Float64Array(values.length);
  for (let start = 0, end = 0; start < order.length; start = end) {
    while (end < order.length && values[order[end]] === values[order[start]]) end++;
    for (let i = start; i < end; i++) ranks[order[i]] = (start + end - 1) / 2;
  }
  return ranks;
}

/** Pearson's r over the rows that have both values; NaN where one of them is constant. */
function correlation(x: Float64Array, y: Float64Array): number {
  const isComplete = (row: number): boolean => !Number.isNaN(x[row]) && !Number.isNaN(y[row]);
  let [rows, sumX, sumY] = [0, 0, 0];
  for (let row = 0; row < x.length; row++) {
    if (!isComplete(row)) continue;
    rows++;
    sumX += x[row];
    sumY += y[row];
  }
  let [xx, yy, xy] = [0, 0, 0];
  for (let row = 0; row < x.length; row++) {
    if (!isComplete(row)) continue;
    const [dx, dy] = [x[row] - sumX / rows, y[row] - sumY / rows];
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  return xy / Math.sqrt(xx * yy);
}
