import { compareRows, dominates, nondominationRanks } from './front.ts';

/**
 * Chooses rows of a front one after the other, each the one that adds most to the hypervolume (at least 1 - 1/e of the
 * best subset's). Equal rows are chosen again only when all different ones are.
 *
 * Source: Guerreiro, Fonseca and Paquete, "Greedy hypervolume subset selection in low dimensions", 2016.
 *
 * @param losses shape [N, objectives], of rows that do not dominate each other
 * @returns the rows chosen, in the order of their choice
 */
export function chooseSubset(
  losses: readonly (readonly number[])[],
  size: number,
  reference: readonly number[],
): number[] {
  const order = losses.map((_, row) => row).toSorted((left, right) => compareRows(losses[left], losses[right]));
  const isNew = (row: number, place: number): boolean =>
    place === 0 || compareRows(losses[order[place - 1]], losses[row]) !== 0;
  const distinct = order.filter(isNew);
  const repeated = order.filter((row, place) => !isNew(row, place)).toSorted((left, right) => left - right);
  if (distinct.length <= size) return [...distinct, ...repeated].slice(0, size);
  // Without a finite reference every volume is infinite, and none is better.
  if (!reference.every(Number.isFinite)) return distinct.slice(0, size);
  const chosen =
    reference.length === 2
      ? chooseInPlane(
          distinct.map((row) => losses[row]),
          size,
          reference,
        )
      : chooseLazily(
          distinct.map((row) => losses[row]),
          size,
          reference,
        );
  return chosen.map((place) => distinct[place]);
}

/** In two dimensions the volume that a point adds is a rectangle between its chosen neighbours. */
function chooseInPlane(
  staircase: readonly (readonly number[])[],
  size: number,
  reference: readonly number[],
): number[] {
  const right = staircase.map(() => reference[0]);
  const top = staircase.map(() => reference[1]);
  const chosen: number[] = [];
  const isChosen = staircase.map(() => false);
  while (chosen.length < size) {
    let [best, most] = [-1, -Infinity];
    for (const [place, [x, y]] of staircase.entries()) {
      const area = (right[place] - x) * (top[place] - y);
      if (!isChosen[place] && area > most) [best, most] = [place, area];
    }
    isChosen[best] = true;
    chosen.push(best);
    for (let place = 0; place < best; place++) right[place] = Math.min(right[place], staircase[best][0]);
    for (let place = best + 1; place < top.length; place++) top[place] = Math.min(top[place], staircase[best][1]);
  }
  return chosen;
}

/**
 * The volume that a point adds only shrinks as others are chosen, so a point is measured anew only while an old measure
 * leads.
 */
function chooseLazily(points: readonly (readonly number[])[], size: number, reference: readonly number[]): number[] {
  const chosen: number[] = [];
  const waiting = points.map((point, place) => ({ place, added: addedVolume(point, [], reference), measuredWith: 0 }));
  while (chosen.length < size) {
    waiting.sort((left, right) => right.added - left.added || left.place - right.place);
    const [first] = waiting;
    if (first.measuredWith === chosen.length) {
      chosen.push(first.place);
      waiting.shift();
      continue;
    }
    first.added = addedVolume(
      points[first.place],
      chosen.map((place) => points[place]),
      reference,
    );
    first.measuredWith = chosen.length;
  }
  return chosen;
}

/**
 * The volume that points dominate up to a reference point: for two points (1, 2) and (2, 1) with reference (3, 3) it is
 * 3. Rows that do not lie below the reference contribute nothing.
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
function addedVolume(
  point: readonly number[],
  others: readonly (readonly number[])[],
  reference: readonly number[],
): number {
  const own = reference.reduce((product, bound, objective) => product * (bound - point[objective]), 1);
  const limited = others.map((other) => other.map((loss, objective) => Math.max(loss, point[objective])));
  return own - (limited.length === 0 ? 0 : hypervolume(limited, reference));
}

/** Leaves out points that an earlier one dominates or equals; the points are in lexicographic order. */
function withoutDominated(sorted: readonly (readonly number[])[]): (readonly number[])[] {
  const kept: (readonly number[])[] = [];
  for (const point of sorted) {
    if (!kept.some((other) => dominates(other, point) || compareRows(other, point) === 0)) kept.push(point);
  }
  return kept;
}

/**
 * Whole fronts of non-dominated sorting as long as they fit, then those of the next front that add most hypervolume.
 *
 * Source: Ozaki et al., "Multiobjective tree-structured Parzen estimator", 2022.
 */
export function chooseFronts(losses: readonly (readonly number[])[], size: number): number[] {
  const ranks = nondominationRanks(losses, size);
  const chosen: number[] = [];
  for (let rank = 0; chosen.length < size; rank++) {
    const front = ranks.flatMap((other, row) => (other === rank ? [row] : []));
    if (chosen.length + front.length <= size) chosen.push(...front);
    else {
      const rows = front.map((row) => losses[row]);
      const subset = chooseSubset(rows, size - chosen.length, referencePoint(rows));
      chosen.push(...subset.map((place) => front[place]));
    }
  }
  return chosen;
}

/** Slightly worse than the worst loss of each objective. */
function referencePoint(losses: readonly (readonly number[])[]): number[] {
  return losses[0].map((_, objective) => {
    const worst = losses.reduce((most, row) => Math.max(most, row[objective]), -Infinity);
    return Math.max(1.1 * worst, 0.9 * worst) || 1e-12;
  });
}
