import { formatDuration, formatShort } from '../../../core/text/numbers.ts';
import { ticks as roundValues } from 'd3-array';
import { type ScaleContinuousNumeric, scaleLinear, scaleLog, scaleUtc } from 'd3-scale';
import type { ChartRange } from '../types.ts';

/** What one axis shows. `from` is above 0 on a logarithmic axis. */
export interface Scale extends ChartRange {
  isLog: boolean;
}

export interface Tick {
  value: number;
  label: string;
}

/** An axis of a plot: its name, what it shows, and ticks that replace round numbers. */
export interface PlotAxis {
  label: string;
  scale: Scale;
  ticks?: readonly Tick[];
}

/** Fewer ticks do not show how far apart values are. */
const fewest = 3;

/** Round values across a scale, about `most` of them and at least three. */
export function ticks(scale: Scale, most: number): Tick[] {
  return valuesOf(scale, most).map((value) => ({ value, label: formatShort(value) }));
}

/** Round times across a scale in seconds. */
export function timeTicks(scale: Scale, most: number): Tick[] {
  const values = scale.isLog ? logValues(scale, most) : timeValues(scale, most);
  return values.map((value) => ({ value, label: formatDuration(value) }));
}

/** Steps between the labels that are kept, in the order in which they are tried. */
const strides = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
/** Pixels between two labels. */
const labelGap = 6;

/**
 * Every n-th of the given ticks, with the smallest of the round n whose labels do not touch.
 *
 * @param placeOf pixels of a value
 * @param sizeOf pixels of a label along the axis
 */
export function thinTicks(
  all: readonly Tick[],
  placeOf: (value: number) => number,
  sizeOf: (label: string) => number,
): readonly Tick[] {
  const isFree = (kept: readonly Tick[]): boolean =>
    kept.every(({ value, label }, index) => {
      if (index === 0) return true;
      const before = kept[index - 1];
      const distance = Math.abs(placeOf(value) - placeOf(before.value));
      return distance >= (sizeOf(label) + sizeOf(before.label)) / 2 + labelGap;
    });
  const found = strides
    .map((stride) => all.filter((_, index) => index % stride === 0))
    .find((kept) => kept.length < 2 || isFree(kept));
  return found ?? all.slice(0, 1);
}

function valuesOf(scale: Scale, most: number): number[] {
  return scale.isLog ? logValues(scale, most) : linearValues(scale, most);
}

function linearValues({ from, to }: ChartRange, most: number): number[] {
  return fitTicks(most, (hint) => roundValues(from, to, hint));
}

const day = 86_400;

/** d3 knows the round fractions of a day; beyond some days it would count months of the year 1970. */
function timeValues({ from, to }: ChartRange, most: number): number[] {
  if (to - from > 3 * day) return linearValues({ from: from / day, to: to / day }, most).map((days) => days * day);
  const clock = scaleUtc().domain([1000 * from, 1000 * to]);
  return fitTicks(most, (hint) => clock.ticks(hint)).map((date) => date.getTime() / 1000);
}

/** Powers of ten, with 2 and 5 times them where there is room; within less than a decade, evenly spaced values. */
function logValues(scale: Scale, most: number): number[] {
  const decades = Math.log10(scale.to) - Math.log10(scale.from);
  if (decades < 1) return linearValues(scale, most);
  const axis = scaleLog().domain([scale.from, scale.to]);
  // d3 gives powers alone up to a hint of one tick a decade, and all their multiples above.
  const powers = fitTicks(most, (hint) => axis.ticks(Math.min(hint, decades)));
  if (3 * decades > most && powers.length >= 3) return powers;
  return axis.ticks(decades + 1).filter((value) => '125'.includes(value.toExponential()[0]));
}

/**
 * Ticks that fit an axis. d3 takes a count as a hint and may give twice as many ticks: this lowers the hint until about
 * `most` come, then raises it until there are three.
 */
function fitTicks<T>(most: number, ticksOf: (hint: number) => T[]): T[] {
  let hint = most;
  while (hint > 1 && ticksOf(hint).length > most + 1) hint -= 1;
  while (hint < most + fewest && ticksOf(hint).length < fewest) hint += 1;
  return ticksOf(hint);
}

function d3Scale({ from, to, isLog }: Scale): ScaleContinuousNumeric<number, number> {
  return (isLog ? scaleLog() : scaleLinear()).domain([from, to]).unknown(NaN);
}

/**
 * The pixels of an axis's values; NaN where a logarithmic axis cannot show one. The straight line is not left to d3, as
 * lines pass hundreds of thousands of points through it in each frame, for which d3's chain of closures needs nine
 * times as long.
 */
export function pixels(scale: Scale, start: number, end: number): (value: number) => number {
  if (scale.isLog) return d3Scale(scale).range([start, end]);
  const slope = (end - start) / (scale.to - scale.from);
  return (value) => start + (value - scale.from) * slope;
}

/** Where a value lies: 0 at the scale's start, 1 at its end, NaN where a logarithmic axis cannot show it. */
export function fractionOf(scale: Scale, value: number): number {
  return d3Scale(scale)(value);
}

/** The value at a fraction of the scale. */
export function valueAt(scale: Scale, fraction: number): number {
  return d3Scale(scale).invert(fraction);
}

/** The part of a scale between two fractions of it. */
export function part(scale: Scale, from: number, to: number): ChartRange {
  return { from: valueAt(scale, from), to: valueAt(scale, to) };
}

/** The range `factor` times as wide around the value at `fraction`, cut to `limits`. */
export function zoomAround(scale: Scale, fraction: number, factor: number, limits: ChartRange): ChartRange {
  const { from, to } = part(scale, fraction * (1 - factor), fraction + (1 - fraction) * factor);
  return { from: Math.max(from, limits.from), to: Math.min(to, limits.to) };
}

/** The range moved by a share of its width, stopping at `limits`. */
export function panBy(scale: Scale, share: number, limits: ChartRange): ChartRange {
  const [start, end] = [fractionOf(scale, limits.from), fractionOf(scale, limits.to)];
  const moved = Math.min(Math.max(share, Math.min(start, 0)), Math.max(end - 1, 0));
  return part(scale, moved, 1 + moved);
}
