/** A value and its gradient at a point. */
export interface Slope {
  value: number;
  gradient: Float64Array;
}

/** (sqrt(5) − 1) / 2. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/**
 * The least of a function of one number on [low, high]: the best of 33 points at equal distances, then golden sections around it until the
 * interval is shorter than 1e-9. Needs no derivative, and finds the least of several valleys that the points show.
 */
export function minimizeOnInterval(of: (at: number) => number, low: number, high: number): number {
  const step = (high - low) / 32;
  const points = Array.from({ length: 33 }, (_, index) => low + index * step);
  const values = points.map(of);
  const best = values.indexOf(Math.min(...values));
  if (best === -1) return NaN;
  let [left, right] = [Math.max(low, points[best] - step), Math.min(high, points[best] + step)];
  let [first, second] = [right - GOLDEN * (right - left), left + GOLDEN * (right - left)];
  let [atFirst, atSecond] = [of(first), of(second)];
  while (right - left > 1e-9) {
    if (atFirst <= atSecond) {
      [right, second, atSecond] = [second, first, atFirst];
      first = right - GOLDEN * (right - left);
      atFirst = of(first);
    } else {
      [left, first, atFirst] = [first, second, atSecond];
      second = left + GOLDEN * (right - left);
      atSecond = of(second);
    }
  }
  return (left + right) / 2;
}

/** Pairs of steps and changes of the gradient that approximate the curvature. */
const MEMORY = 10;

/**
 * A local minimum of a smooth function by L-BFGS: directions from the last 10 steps, each shortened until it lowers the value by 1e-4 of what
 * the slope promises. Ends where no entry of the gradient exceeds 1e-9, where the value no longer changes, or after 500 steps.
 *
 * Source: Nocedal and Wright, "Numerical optimization", 2nd edition, algorithms 7.4 and 3.1.
 */
export function minimize(of: (at: Float64Array) => Slope, start: Float64Array): Float64Array {
  let at = start;
  let here = of(at);
  const pairs: Pair[] = [];
  for (let round = 0; round < 500 && here.gradient.some((entry) => Math.abs(entry) > 1e-9); round++) {
    const direction = descentDirection(here.gradient, pairs);
    const next = lineSearch(of, at, here, direction, pairs.length === 0);
    if (next === null) {
      // A direction from old curvature may fail where the gradient itself does not.
      if (pairs.length === 0) break;
      pairs.length = 0;
      continue;
    }
    const step = next.at.map((value, index) => value - at[index]);
    const change = next.slope.gradient.map((value, index) => value - here.gradient[index]);
    const curvature = dot(step, change);
    if (curvature > 1e-14 * dot(change, change)) pairs.push({ step, change, curvature });
    if (pairs.length > MEMORY) pairs.shift();
    const gain = here.value - next.slope.value;
    [at, here] = [next.at, next.slope];
    if (gain <= 1e-15 * Math.abs(here.value)) break;
  }
  return at;
}

interface Pair {
  step: Float64Array;
  change: Float64Array;
  curvature: number;
}

/** The two-loop recursion. */
function descentDirection(gradient: Float64Array, pairs: readonly Pair[]): Float64Array {
  const direction = gradient.map((entry) => -entry);
  const shares = pairs.toReversed().map(({ step, change, curvature }) => {
    const share = dot(step, direction) / curvature;
    add(direction, change, -share);
    return share;
  });
  const last = pairs.at(-1);
  if (last !== undefined) scale(direction, last.curvature / dot(last.change, last.change));
  for (const [index, { step, change, curvature }] of pairs.entries()) {
    add(direction, step, shares[pairs.length - 1 - index] - dot(change, direction) / curvature);
  }
  return direction;
}

/** @returns null where no step of the direction lowers the value */
function lineSearch(
  of: (at: Float64Array) => Slope,
  at: Float64Array,
  here: Slope,
  direction: Float64Array,
  isFirst: boolean,
): { at: Float64Array; slope: Slope } | null {
  const promised = dot(here.gradient, direction);
  if (!(promised < 0)) return null;
  // The first direction has the length of the gradient, which says nothing about the distance.
  let length = isFirst ? Math.min(1, 1 / Math.sqrt(-promised)) : 1;
  for (let trial = 0; trial < 50; trial++, length /= 2) {
    const next = at.map((value, index) => value + length * direction[index]);
    const slope = of(next);
    if (slope.value <= here.value + 1e-4 * length * promised) return { at: next, slope };
  }
  return null;
}

function dot(left: Float64Array, right: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += left[index] * right[index];
  return sum;
}

function add(to: Float64Array, what: Float64Array, times: number): void {
  for (let index = 0; index < to.length; index++) to[index] += times * what[index];
}

function scale(values: Float64Array, factor: number): void {
  for (let index = 0; index < values.length; index++) values[index] *= factor;
}
