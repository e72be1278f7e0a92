import type { Generator } from '../random/generator.ts';

/** The candidates with which a search begins, ascending: `count` of N at random. */
export function drawStart(candidates: number, count: number, generator: Generator): Int32Array {
  return generator.permutation(candidates).slice(0, count).sort();
}

/**
 * The same with the classes in the proportions of the pool, and at least one candidate of each class: a start without a
 * hit teaches nothing of them. Shares are rounded by largest remainders.
 * @param labels class of each candidate, shape `[N]`
 * @throws RangeError if there are more classes than candidates to draw
 */
export function drawStratifiedStart(labels: ArrayLike<number>, count: number, generator: Generator): Int32Array {
  const order = generator.permutation(labels.length);
  const byClass = new Map<number, number[]>();
  for (const candidate of order) {
    const own = byClass.get(labels[candidate]);
    if (own === undefined) byClass.set(labels[candidate], [candidate]);
    else own.push(candidate);
  }
  const classes = [...byClass].toSorted(([a], [b]) => a - b).map(([, members]) => members);
  const sizes = shares(
    classes.map((members) => members.length),
    count,
  );
  return Int32Array.from(classes.flatMap((members, at) => members.slice(0, sizes[at]))).sort();
}

/** `count` divided in the proportion of `sizes`, at least 1 each. */
function shares(sizes: readonly number[], count: number): number[] {
  if (count < sizes.length) {
    throw new RangeError(
      `A start of ${count} cannot have one candidate of each of ${sizes.length} classes. Begin with at least ` +
        `${sizes.length}.`,
    );
  }
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const exact = sizes.map((size) => (size / total) * count);
  const whole = exact.map((share) => Math.max(1, Math.floor(share)));
  const left = (at: number): number => exact[at] - whole[at];
  const sum = (): number => whole.reduce((all, own) => all + own, 0);
  while (sum() < count) whole[extreme(sizes, (at) => (whole[at] < sizes[at] ? left(at) : -Infinity))]++;
  while (sum() > count) whole[extreme(sizes, (at) => (whole[at] > 1 ? -left(at) : -Infinity))]--;
  return whole;
}

function extreme(sizes: readonly number[], value: (at: number) => number): number {
  return sizes.reduce((best, _, at) => (value(at) > value(best) ? at : best), 0);
}
