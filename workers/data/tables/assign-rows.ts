import type { Generator } from '../../../core/random/generator.ts';
import type { Column } from './columns.ts';

/** Rows of each split, in ascending order. */
export interface RowSplits {
  train: Int32Array;
  validation: Int32Array;
  test: Int32Array;
}

/** Which rows must be divided alike, and which must stay together. */
export interface Division {
  /** The rows' strata (classes), which every split holds in the same proportions; null: one stratum. */
  strata: Int32Array | null;
  /** The rows' groups, which lie in one split as a whole; null: every row is a group. */
  groups: Int32Array | null;
}

/**
 * Takes `count` rows at random. Strata give shares by largest remainder, which add up to `count`; groups are taken as a whole while they do
 * not exceed it.
 */
export function takeRows(rows: Int32Array, count: number, division: Division, generator: Generator): Int32Array {
  if (count === 0) return new Int32Array(0);
  const order = generator.permutation(rows.length).map((at) => rows[at]);
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
 * Fold `index` of `count` folds that partition the rows. Rows are dealt out in random order, stratum by stratum, so that sizes, also within
 * strata, differ by at most one; groups go, largest first, to the smallest fold (as scikit-learn's `GroupKFold`).
 */
export function foldRows(
  rows: Int32Array,
  { count, index }: { count: number; index: number },
  division: Division,
  generator: Generator,
): Int32Array {
  const order = generator.permutation(rows.length).map((at) => rows[at]);
  if (division.groups === null) {
    const dealt = division.strata === null ? [...order] : byNumber(order, division.strata).flat();
    return Int32Array.from(dealt.filter((_, i) => i % count === index)).sort();
  }
  const sizes = Array.from({ length: count }, () => 0);
  const own: number[] = [];
  for (const members of byNumber(order, division.groups).sort((a, b) => b.length - a.length)) {
    const fold = sizes.indexOf(Math.min(...sizes));
    sizes[fold] += members.length;
    if (fold === index) own.push(...members);
  }
  return Int32Array.from(own).sort();
}

/** Divides `total` by the sizes: whole parts first, then one each to the largest remainders (the first of equal ones). */
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
