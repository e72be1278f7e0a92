import { spread } from '../../../../../core/series/spread.ts';

/** The box of a sparkline, in CSS pixels. */
export const sparkline = { width: 64, height: 24, padding: 2 } as const;

/** More points than this do not show in so small a box. */
const maximumPoints = 48;

/**
 * The path of a sparkline through the last point of each part of a metric's steps, scaled to its own range. Values that are not finite
 * leave gaps. Empty for fewer than two points.
 */
export function sparklinePath(values: ArrayLike<number>, length: number): string {
  if (length < 2) return '';
  const picked = [...spread(values, length, maximumPoints)];
  const count = picked.length;
  const finite = picked.filter(Number.isFinite);
  if (finite.length < 2) return '';
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const { width, height, padding } = sparkline;
  const x = (i: number): number => padding + (i * (width - 2 * padding)) / (count - 1);
  const y = (value: number): number =>
    high === low ? height / 2 : padding + ((high - value) * (height - 2 * padding)) / (high - low);
  return picked
    .map((value, i) => {
      if (!Number.isFinite(value)) return '';
      const isFirst = i === 0 || !Number.isFinite(picked[i - 1]);
      return `${isFirst ? 'M' : 'L'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join('');
}
