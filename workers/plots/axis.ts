import { tickStep, ticks as roundValues } from 'd3-array';
import { finiteNumbers, positiveNumbers, rangeOf as drawableRange } from '../../core/series/extremes.ts';
import { exponentOf, formatLinearTicks, formatLogTicks } from './number-format.ts';

/** Whether an axis is linear or logarithmic (base 10). */
export type ScaleKind = 'linear' | 'log';
/** The ends of an axis, low before high. */
export type Range = readonly [low: number, high: number];
/** An array or typed array of numbers. */
export type Numbers = ArrayLike<number>;

export interface Tick {
  value: number;
  label: string;
}

export interface Axis {
  ticks: readonly Tick[];
  /** Position of a value along the axis: 0 at the low end, 1 at the high end; NaN if it cannot be drawn. */
  fraction: (value: number) => number;
}

/** An axis over `range` with at most about `tickCount` ticks, a linear one's at least `smallestStep` apart. */
export function createAxis(kind: ScaleKind, range: Range, tickCount: number, smallestStep = 0): Axis {
  const low = toAxis(kind, range[0]);
  const length = toAxis(kind, range[1]) - low;
  const fraction = (value: number): number => (isDrawable(kind, value) ? (toAxis(kind, value) - low) / length : NaN);
  const ticks = kind === 'log' ? logTicks(range, tickCount) : linearTicks(range, tickCount, smallestStep);
  // The extent of a range may overflow or vanish. Values then have no position on the axis.
  return { ticks: ticks.filter(({ value }) => Number.isFinite(fraction(value))), fraction };
}

/**
 * The range that shows all values, with room at both ends as fractions of their extent. Values that cannot be drawn
 * (NaN, infinities, zero and below on a logarithmic axis) do not count; equal values, or none, still get a range with
 * an extent.
 */
export function rangeOf(kind: ScaleKind, columns: readonly Numbers[], room: Range): Range {
  const drawable = drawableRange(columns, kind === 'log' ? positiveNumbers : finiteNumbers);
  if (drawable === null) return kind === 'log' ? [0.1, 10] : [0, 1];
  const { from: low, to: high } = drawable;
  if (low === high) return around(kind, low);
  const [start, end] = [toAxis(kind, low), toAxis(kind, high)];
  const extent = end - start;
  return [fromAxis(kind, start - room[0] * extent), fromAxis(kind, end + room[1] * extent)];
}

/**
 * Ticks at multiples of 1, 2 or 5 times a power of ten, with the smallest step that gives at most about `count` ticks.
 */
export function linearTicks([low, high]: Range, count: number, smallestStep = 0): Tick[] {
  const closest = Math.max(smallestStep, (high - low) / count) * (1 - 1e-9);
  let hint = count;
  // d3 takes the count as a hint and may choose a step up to 1.4 times finer.
  while (hint > 0.1 && tickStep(low, high, hint) < closest) hint /= 1.5;
  const step = tickStep(low, high, hint);
  // Where no multiple of the step lies in the range, d3 halves the step.
  const values = roundValues(low, high, hint).filter((value) =>
    Number.isInteger(Number((value / step).toPrecision(12))),
  );
  const labels = formatLinearTicks(values, step);
  return values.map((value, i) => ({ value, label: labels[i] ?? '' }));
}

/**
 * Ticks at powers of ten; if the range has fewer than two, at 1, 2 and 5 times them; if that is too few, linear ticks.
 */
export function logTicks(range: Range, count: number): Tick[] {
  const decades = mantissaTicks(range, [1]);
  if (decades.length >= 2) {
    const stride = Math.ceil(decades.length / Math.max(2, count));
    return labelled(decades.filter((_, i) => i % stride === 0));
  }
  const finer = mantissaTicks(range, [1, 2, 5]);
  return finer.length >= 2 ? labelled(finer) : linearTicks(range, count);
}

function mantissaTicks([low, high]: Range, mantissas: readonly number[]): number[] {
  const values: number[] = [];
  for (let exponent = exponentOf(low); exponent <= exponentOf(high); exponent++) {
    for (const mantissa of mantissas) values.push(Number(`${mantissa}e${exponent}`));
  }
  const tolerance = 1e-9;
  return values.filter((value) => value >= low * (1 - tolerance) && value <= high * (1 + tolerance));
}

function labelled(values: readonly number[]): Tick[] {
  const labels = formatLogTicks(values);
  return values.map((value, i) => ({ value, label: labels[i] ?? '' }));
}

function around(kind: ScaleKind, value: number): Range {
  if (kind === 'log') return [value / 10, value * 10];
  const half = value === 0 ? 1 : Math.abs(value) / 2;
  return [value - half, value + half];
}

function isDrawable(kind: ScaleKind, value: number): boolean {
  return Number.isFinite(value) && (kind === 'linear' || value > 0);
}

function toAxis(kind: ScaleKind, value: number): number {
  return kind === 'log' ? Math.log10(value) : value;
}

function fromAxis(kind: ScaleKind, position: number): number {
  return kind === 'log' ? 10 ** position : position;
}
