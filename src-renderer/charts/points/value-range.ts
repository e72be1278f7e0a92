import type { Scale } from '../scene/axes.ts';

/** The share of the range that stays free on either side, so that no point lies on an axis. */
const room = 0.03;

/**
 * The scale that shows all finite values with some room around them; from 0 to 1 (1 to 10 for a logarithm) without any. A logarithmic scale
 * leaves values that are not above 0 out.
 */
export function scaleAround(columns: Iterable<Iterable<number>>, isLog = false): Scale {
  let [low, high] = [Infinity, -Infinity];
  for (const column of columns) {
    for (const value of column) {
      if (!Number.isFinite(value) || (isLog && value <= 0)) continue;
      [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
  }
  if (low > high) return isLog ? { from: 1, to: 10, isLog } : { from: 0, to: 1, isLog };
  return widened({ from: low, to: high, isLog });
}

/** The scale with some room on both sides. */
export function widened({ from, to, isLog }: Scale): Scale {
  if (isLog) {
    const factor = (to / from) ** room;
    return factor === 1 ? { from: from / 2, to: to * 2, isLog } : { from: from / factor, to: to * factor, isLog };
  }
  const margin = (to - from || Math.abs(to) || 1) * room;
  return { from: from - margin, to: to + margin, isLog };
}
