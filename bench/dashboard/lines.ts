import type { ChartSeries } from '../../src-renderer/charts/types.ts';

/** Synthetic metrics of an ensemble: noisy decays between 0 and 1, with spikes of 2 in the ensemble's line. */

export const ranks = 16;
export const points = 100_000;
/** One point each, far enough apart to be distinct on the screen. */
export const spikes = 24;

const headroom = 20_000;

/** A line of each rank, then the ensemble's. */
export function makeLines(count: number): ChartSeries[] {
  return [...Array.from({ length: count }, (_, rank) => makeLine(rank, rank)), makeLine(null, count)];
}

/** The same lines with `count` more points each. */
export function grow(lines: readonly ChartSeries[], count: number): ChartSeries[] {
  return lines.map((line) => {
    const length = line.length + count;
    if (length > line.y.length) throw new RangeError(`A line has room for ${line.y.length} points, not ${length}.`);
    return { ...line, length };
  });
}

/** All points are written in advance. `grow` makes them count. */
function makeLine(rank: number | null, seed: number): ChartSeries {
  const step = new Int32Array(points + headroom);
  const epoch = new Float64Array(points + headroom);
  const y = new Float64Array(points + headroom);
  for (let index = 0; index < y.length; index++) {
    step[index] = index;
    epoch[index] = index / 1000;
    y[index] = 0.2 + 0.6 * Math.exp(-index / 30_000) + 0.15 * noise(index, seed);
  }
  if (rank === null) {
    for (let spike = 0; spike < spikes; spike++) y[Math.floor(((spike + 0.5) * points) / spikes)] = 2;
    return {
      id: 'ensemble',
      label: 'ensemble',
      role: 'ensemble',
      x: { step, epoch, time: null },
      y,
      length: points,
      version: 0,
    };
  }
  const label = `rank ${rank}`;
  return { id: label, label, role: 'rank', rank, x: { step, epoch, time: null }, y, length: points, version: 0 };
}

/** Between -1 and 1, the same in every run. */
function noise(index: number, line: number): number {
  const hash = Math.sin(index * 12.9898 + line * 78.233) * 43_758.5453;
  return 2 * (hash - Math.floor(hash)) - 1;
}
