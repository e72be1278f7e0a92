import type { Generator } from '../../core/random/generator.ts';
import type { Column } from './tables/columns.ts';

/** One of k folds of the same size (±1), which partition the samples. */
export interface Fold {
  /** Number of folds, k. */
  count: number;
  /** Counted from 0. */
  index: number;
}

/** Sizes of the splits in rows; with `fold`, that is the test split. */
export interface RowCounts {
  test: number;
  validation: number;
  fold?: Fold | undefined;
}

/** Rows of each split, in ascending order. */
export interface RowSplits {
  train: Int32Array;
  validation: Int32Array;
  test: Int32Array;
}

/** Which rows must be divided alike, or which must stay together. */
export interface Division {
  /** The rows' strata (classes), which every split holds in the same proportions; null: one stratum. */
  strata: Int32Array | null;
  /** The rows' groups, which lie in one split as a whole; null: every row is a group. */
  groups: Int32Array | null;
}

/** @throws Error if there is no such fold */
export function requireFold({ count, index }: Fold): void {
  const isFold = Number.isInteger(count) && count >= 2 && Number.isInteger(index) && index >= 0 && index < count;
  if (isFold) return;
  throw new Error(`There is no fold ${index} of ${count}: give at least 2 folds, and an index from 0 to count − 1.`);
}

/**
 * Divides rows at random: the test split is drawn first, then the validation split; the rest trains.
 * @param subject names the data for messages
 * @throws Error if rows have both strata and groups, RangeError if all groups are too large for a split, or none is
 * left to train on
 */
export function divideRows(
  subject: string,
  rows: Int32Array,
  { test, validation, fold }: RowCounts,
  division: Division,
  generator: Generator,
): RowSplits {
  requireOneDivision(subject, division);
  if (fold) requireFold(fold);
  const take = (split: string, from: Int32Array, count: number): Int32Array => {
    const taken = takeRows(from, count, division, generator);
    if (count === 0 || taken.length > 0) return taken;
    throw new RangeError(
      `Splitting ${subject}: every group has more rows than the ${count} of the ${split} split. Make that ` +
        'split larger.',
    );
  };
  const tested = fold ? foldsOfRows(rows, fold.count, division, generator)[fold.index] : take('test', rows, test);
  if (fold && tested.length === 0)
    throw new RangeError(`Splitting ${subject}: there are fewer groups than ${fold.count} folds. Use fewer folds.`);
  const rest = without(rows, tested);
  const validated = take('validation', rest, validation);
  const train = without(rest, validated);
  if (train.length > 0) return { train, validation: validated, test: tested };
  throw new RangeError(`Splitting ${subject}: all ${rows.length} rows are held out. Make validation or test smaller.`);
}

/** @throws Error if rows have both strata and groups */
export function requireOneDivision(subject: string, { strata, groups }: Division): void {
  if (strata === null || groups === null) return;
  throw new Error(
    `Splitting ${subject}: splits are either stratified or grouped. Leave out one: stratify or group, strata ` +
      'or groups.',
  );
}

function without(rows: Int32Array, taken: Int32Array): Int32Array {
  const held = new Set(taken);
  return rows.filter((row) => !held.has(row));
}

/**
 * Takes `count` rows at random. Strata give shares by largest remainder, which add up to `count`; groups are taken as a
 * whole while they do not exceed it.
 */
export function takeRows(rows: Int32Array, count: number, division: Division, generator: Generator): Int32Array {
  if (count === 0) return new Int32Array(0);
  const order = shuffled(rows, generator);
  if (division.groups !== null) return takeGroups(order, count, division.groups);
  if (division.strata === null) return order.slice(0, count).sort();
  const strata = byNumber(order, division.strata);
  const shares = sharesOf(
    strata.map(({ length }) => length),
    count,
  );
  return Int32Array.from(strata.flatMap((members, i) => members.slice(0, shares[i]))).sort();
}

function takeGroups(order: Int32Array, count: number, groups: Int32Array): Int32Array {
  const taken: number[] = [];
  for (const members of byNumber(order, groups)) {
    if (taken.length + members.length <= count) taken.push(...members);
  }
  return Int32Array.from(taken).sort();
}

/**
 * `count` folds that partition the rows, each ascending. Rows are dealt out in random order, stratum by stratum, so
 * that sizes, also within strata, differ by at most one; groups go, largest first, to the smallest fold (as
 * scikit-learn's `GroupKFold`).
 */
export function foldsOfRows(
  rows: Int32Array,
  count: number,
  { strata, groups }: Division,
  generator: Generator,
): Int32Array[] {
  const order = shuffled(rows, generator);
  if (groups !== null) {
    const largestFirst = byNumber(order, groups).sort((a, b) => b.length - a.length);
    return dealGroups(largestFirst, count, Infinity);
  }
  const dealt = strata === null ? [...order] : byNumber(order, strata).flat();
  return Array.from({ length: count }, (_, fold) => Int32Array.from(dealt.filter((_, i) => i % count === fold)).sort());
}

/**
 * `count` chunks of at most `size` rows, each ascending, of groups in random order: each goes to the smallest chunk,
 * where it fits.
 */
export function chunksOfGroups(
  rows: Int32Array,
  { count, size }: { count: number; size: number },
  groups: Int32Array,
  generator: Generator,
): Int32Array[] {
  return dealGroups(byNumber(shuffled(rows, generator), groups), count, size);
}

function shuffled(rows: Int32Array, generator: Generator): Int32Array {
  return generator.permutation(rows.length).map((at) => rows[at]);
}

function dealGroups(groups: readonly number[][], count: number, most: number): Int32Array[] {
  const dealt = Array.from({ length: count }, (): number[] => []);
  for (const members of groups) {
    const smallest = dealt.reduce((least, own) => (own.length < least.length ? own : least));
    if (smallest.length + members.length <= most) smallest.push(...members);
  }
  return dealt.map((own) => Int32Array.from(own).sort());
}

/**
 * Divides `total` by the sizes: whole parts first, then one each to the largest remainders (the first of equal ones).
 */
function sharesOf(sizes: readonly number[], total: number): number[] {
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const exact = sizes.map((size) => (size * total) / all);
  const shares = exact.map(Math.floor);
  const left = total - shares.reduce((sum, share) => sum + share, 0);
  const byRemainder = exact
    .map((share, i) => ({ i, rest: share - shares[i] }))
    .sort((a, b) => b.rest - a.rest || a.i - b.i);
  for (const { i } of byRemainder.slice(0, left)) shares[i]++;
  return shares;
}

/** What samples keep of how all rows were divided, for whoever divides them further. */
export function divisionAt(
  { strata, groups }: Division,
  rows: Int32Array,
): { strata?: Int32Array; groups?: Int32Array } {
  return {
    ...(strata && { strata: rows.map((row) => strata[row]) }),
    ...(groups && { groups: rows.map((row) => groups[row]) }),
  };
}

/** Lists of rows of the same number, in the order in which they come. */
function byNumber(order: Int32Array, numbers: Int32Array): number[][] {
  return [...Map.groupBy(order, (row) => numbers[row]).values()];
}

/** A number for each distinct value of a column, for each row. */
export function numbersOf({ values }: Column): Int32Array {
  const numbers = new Map<unknown, number>();
  return Int32Array.from(values as ArrayLike<unknown>, (value) => {
    const number = numbers.get(value) ?? numbers.size;
    numbers.set(value, number);
    return number;
  });
}
