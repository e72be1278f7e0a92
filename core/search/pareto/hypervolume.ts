import { compareRows, dominates } from './front.ts';

/**
 * The volume that points dominate up to a reference point: for two points (1, 2) and (2, 1) with reference (3, 3) it is 3. Rows that do not
 * lie below the reference contribute nothing.
 *
 * Source: While, Bradstreet and Barone, "A fast way of calculating exact hypervolumes", 2012 (WFG).
 *
 * @param losses shape [N, objectives]; smaller is better
 * @param reference shape [objectives]
 */
export function hypervolume(losses: readonly (readonly number[])[], reference: readonly number[]): number {
  const inside = losses.filter((row) => row.every((loss, objective) => loss < reference[objective]));
  const sorted = inside.toSorted(compareRows);
  return reference.length === 2 ? areaOf(sorted, reference) : volumeOf(withoutDominated(sorted), reference);
}

/** Sums the slabs from one point to the next of a staircase. */
function areaOf(sorted: readonly (readonly number[])[], [width, height]: readonly number[]): number {
  let [area, lowest] = [0, height];
  for (const [x, y] of sorted) {
    if (y >= lowest) continue;
    area += (width - x) * (lowest - y);
    lowest = y;
  }
  return area;
}

/** The sum over the points of the volume that each adds to the points behind it. */
function volumeOf(points: readonly (readonly number[])[], reference: readonly number[]): number {
  return points.reduce((sum, point, index) => sum + addedVolume(point, points.slice(index + 1), reference), 0);
}

/** The volume that a point adds to others: its own without what the others cover of it. */
export function addedVolume(
  point: readonly number[],
  others: readonly (readonly number[])[],
  reference: readonly number[],
): number {
  const own = reference.reduce((product, bound, objective) => product * (bound - point[objective]), 1);
  const limited = others.map((other) => other.map((loss, objective) => Math.max(loss, point[objective])));
  return own - (limited.length === 0 ? 0 : hypervolume(limited, reference));
}

/** Without points that an earlier one dominates or equals; the points are in lexicographic order. */
function withoutDominated(sorted: readonly (readonly number[])[]): (readonly number[])[] {
  const kept: (readonly number[])[] = [];
  for (const point of sorted) {
    if (!kept.some((other) => dominates(other, point) || compareRows(other, point) === 0)) kept.push(point);
  }
  return kept;
}
