import type { ChartRange } from '../types.ts';

/** An axis: which values it shows, and whether their logarithms stand at even distances. */
export interface Scale extends ChartRange {
  isLog: boolean;
}

/** Where a value stands: 0 at `from`, 1 at `to`; NaN for one that a logarithm cannot show. */
export function fractionOf({ from, to, isLog }: Scale, value: number): number {
  if (!isLog) return (value - from) / (to - from);
  return value > 0 ? Math.log(value / from) / Math.log(to / from) : NaN;
}

/** The value that stands at a fraction. */
export function valueAt({ from, to, isLog }: Scale, fraction: number): number {
  return isLog ? from * (to / from) ** fraction : from + fraction * (to - from);
}

/** The part of the scale between two fractions, which may lie outside of it. */
export function part(scale: Scale, from: number, to: number): ChartRange {
  return { from: valueAt(scale, from), to: valueAt(scale, to) };
}

/** The range `zoomed` times as wide, with the value at `fraction` staying where it is, cut to `limits`. */
export function zoomAround(scale: Scale, fraction: number, zoomed: number, limits: ChartRange): ChartRange {
  const { from, to } = part(scale, fraction * (1 - zoomed), fraction + (1 - fraction) * zoomed);
  return { from: Math.max(from, limits.from), to: Math.min(to, limits.to) };
}

/** The range moved by a share of its width, stopping at `limits`. */
export function panBy(scale: Scale, share: number, limits: ChartRange): ChartRange {
  const whole = { ...limits, isLog: scale.isLog };
  const [start, end] = [fractionOf(scale, whole.from), fractionOf(scale, whole.to)];
  const moved = Math.min(Math.max(share, Math.min(start, 0)), Math.max(end - 1, 0));
  return part(scale, moved, 1 + moved);
}
