import type { ChartSeries, ChartView } from '../../../src-renderer/charts/types.ts';

/** A line over steps 0, 1, 2, ... with 10 steps per epoch and 2 s per step, unless `changes` overrides it. */
export function lineOf(values: readonly number[], changes: Partial<ChartSeries> = {}): ChartSeries {
  const step = Int32Array.from(values, (_, index) => index);
  return {
    id: 'line',
    label: 'line',
    role: 'ensemble',
    x: { step, epoch: Float64Array.from(step, (step) => step / 10), time: Float64Array.from(step, (step) => 2 * step) },
    y: Float64Array.from(values),
    length: values.length,
    version: 0,
    ...changes,
  };
}

export function rankLine(rank: number, values: readonly number[]): ChartSeries {
  return lineOf(values, { id: `rank-${rank}`, label: `rank ${rank}`, role: 'rank', rank });
}

/** A view with default settings. */
export function plainView(changes: Partial<ChartView> = {}): ChartView {
  const nothing = (): void => {};
  return {
    axis: 'step',
    logX: false,
    logY: false,
    smoothing: 0,
    clipsOutliers: false,
    zoom: null,
    hiddenRanks: new Set(),
    hoveredRank: null,
    cursorX: null,
    toggleRank: nothing,
    showAllRanks: nothing,
    resetZoom: nothing,
    ...changes,
  };
}
