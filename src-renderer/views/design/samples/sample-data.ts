import type { ReliabilityBin } from '../../../../core/metrics/calibration.ts';
import type { ChartSeries } from '../../../charts/types.ts';

/**
 * Curves of a training that never was, by formulas: the same at every load, so that pictures of them can be compared.
 */

const points = 120;
const stepsPerPoint = 50;

/** Falls from 2.3 to `floor`, with a ripple that fades; from `turn` on it rises again, as an overfitted loss does. */
export function lossAt(point: number, floor: number, phase: number, turn: number): number {
  const fall = (2.3 - floor) * Math.exp(-point / 18);
  const ripple = 0.04 * Math.sin(point / 2 + phase) * Math.exp(-point / 60);
  return floor + fall + ripple + 0.002 * Math.max(0, point - turn);
}

export function lossSeries(members: number): ChartSeries[] {
  const ranks = Array.from({ length: members }, (_, rank) =>
    seriesOf(`rank-${rank}`, { label: `rank ${rank}`, role: 'rank', rank }, (point) =>
      lossAt(point, 0.5 + 0.12 * Math.cos(rank * 2.4), rank * 1.7, 60),
    ),
  );
  return [
    ...ranks,
    seriesOf('ensemble', { label: 'ensemble', role: 'ensemble' }, (point) => lossAt(point, 0.3, 0, 90)),
  ];
}

function seriesOf(
  id: string,
  about: Pick<ChartSeries, 'label' | 'role' | 'rank'>,
  value: (point: number) => number,
): ChartSeries {
  const step = Float64Array.from({ length: points }, (_, point) => point * stepsPerPoint);
  const x = { step, epoch: step.map((steps) => steps / 200), time: null };
  return { id, ...about, x, y: Float64Array.from(step, (_, point) => value(point)), length: points, version: 0 };
}

/** Ten bins of a model that is more confident than right: accuracy = confidence² + 0.05. */
export const reliabilityBins: ReliabilityBin[] = Array.from({ length: 10 }, (_, bin) => {
  const confidence = (bin + 0.5) / 10;
  return {
    lower: bin / 10,
    upper: (bin + 1) / 10,
    count: 10 * (bin + 1),
    confidence,
    accuracy: confidence ** 2 + 0.05,
  };
});

/** Quantiles of an exponential distribution. */
export function exponential(count: number, mean: number): Float64Array {
  return Float64Array.from({ length: count }, (_, index) => -mean * Math.log(1 - (index + 0.5) / count));
}

/** How much pairs of members disagree: |i − j| / n. */
export function disagreements(members: number): Float64Array {
  return Float64Array.from(
    { length: members * members },
    (_, cell) => Math.abs(Math.floor(cell / members) - (cell % members)) / members,
  );
}
