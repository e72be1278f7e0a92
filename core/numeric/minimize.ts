/** A function's value and gradient; an infinite value marks places where it is undefined. */
export type Evaluation = { value: number; gradient: Float64Array };

export interface MinimizeOptions {
  /** Bounds of each variable; a variable with equal bounds stays. */
  lower?: Float64Array;
  upper?: Float64Array;
  iterations?: number;
  /** Stops where no component of the projected gradient is larger. */
  tolerance?: number;
}

/** Until rounding ends the search: for few parameters that must not depend on where it stopped. */
export const PRECISE = { iterations: 20_000, tolerance: 1e-9 } as const satisfies MinimizeOptions;

const memory = 8;

type Step = { move: Float64Array; change: Float64Array; curvature: number };

/**
 * Minimizes a smooth function within bounds by L-BFGS on the variables that are free, with projection and a
 * backtracking line search.
 *
 * Source: Nocedal and Wright, "Numerical optimization", 2006, algorithm 7.4; Bertsekas, "Projected Newton methods",
 * 1982.
 *
 * @param start shape [variables], within the bounds
 */
export function minimize(
  evaluate: (place: Float64Array) => Evaluation,
  start: Float64Array,
  { lower, upper, iterations = 100, tolerance = 1e-5 }: MinimizeOptions = {},
): { place: Float64Array; value: number } {
  const clamp = (value: number, index: number): number =>
    Math.min(Math.max(value, lower?.[index] ?? -Infinity), upper?.[index] ?? Infinity);
  let place = start;
  let { value, gradient } = evaluate(start);
  let steps: Step[] = [];
  for (let iteration = 0; iteration < iterations; iteration++) {
    const free = gradient.map((slope, index) =>
      clamp(place[index] - Math.sign(slope), index) === place[index] ? 0 : slope,
    );
    if (free.every((slope) => Math.abs(slope) <= tolerance)) break;
    let direction = directionOf(free, steps);
    if (!(dot(direction, free) < 0)) [direction, steps] = [free.map((slope) => -slope), []];
    const scale = steps.length === 0 ? Math.min(1, 1 / Math.sqrt(dot(free, free))) : 1;
    const next = search(evaluate, { place, value, gradient, direction, scale, clamp });
    if (next === null) {
      if (steps.length === 0) break;
      steps = [];
      continue;
    }
    const move = next.place.map((coordinate, index) => coordinate - place[index]);
    const change = next.gradient.map((slope, index) => slope - gradient[index]);
    const curvature = dot(move, change);
    if (curvature > 1e-12 * dot(change, change)) steps = [...steps, { move, change, curvature }].slice(-memory);
    ({ place, value, gradient } = next);
  }
  return { place, value };
}

/** -H g, with the inverse Hessian H of the last steps. Variables that are not free stay. */
function directionOf(free: Float64Array, steps: readonly Step[]): Float64Array {
  const direction = free.map((slope) => -slope);
  const shares = steps.map(() => 0);
  for (let index = steps.length - 1; index >= 0; index--) {
    const { move, change, curvature } = steps[index];
    shares[index] = dot(move, direction) / curvature;
    add(direction, -shares[index], change);
  }
  const last = steps.at(-1);
  if (last !== undefined)
    for (const index of direction.keys()) direction[index] *= last.curvature / dot(last.change, last.change);
  for (const [index, { move, change, curvature }] of steps.entries()) {
    add(direction, shares[index] - dot(change, direction) / curvature, move);
  }
  return direction.map((component, index) => (free[index] === 0 ? 0 : component));
}

interface Line {
  place: Float64Array;
  value: number;
  gradient: Float64Array;
  direction: Float64Array;
  scale: number;
  clamp: (value: number, index: number) => number;
}

/** Halves the step until the value has fallen enough (Armijo); null where it never does. */
function search(
  evaluate: (place: Float64Array) => Evaluation,
  line: Line,
): (Evaluation & { place: Float64Array }) | null {
  let scale = line.scale;
  for (let halving = 0; halving < 30; halving++, scale /= 2) {
    const place = line.place.map((coordinate, index) => line.clamp(coordinate + scale * line.direction[index], index));
    const expected = line.gradient.reduce((sum, slope, index) => sum + slope * (place[index] - line.place[index]), 0);
    const reached = evaluate(place);
    const hasFallen = Number.isFinite(reached.value) && reached.value <= line.value + 1e-4 * expected;
    if (expected < 0 && hasFallen) return { place, ...reached };
  }
  return null;
}

function dot(left: Float64Array, right: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += left[index] * right[index];
  return sum;
}

function add(target: Float64Array, factor: number, source: Float64Array): void {
  for (let index = 0; index < target.length; index++) target[index] += factor * source[index];
}

/** (sqrt(5) − 1) / 2. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/**
 * The least of a function of one number on [low, high]: the best of 33 points at equal distances, then golden sections
 * around it until the interval is shorter than 1e-9. Needs no derivative, and finds the least of several valleys that
 * the points show.
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
