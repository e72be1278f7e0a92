import type { Numbers } from './axis.ts';
import { BLUE, INK, MUTED, rankStyle } from './colors.ts';
import type { LegendPosition, Panel } from './figure.ts';
import { bars, line, type Mark, points, verticalLine } from './marks.ts';
import { formatSignificant } from './number-format.ts';

/** Panels of ensembles' figures. Legend: M members, E evaluations. */

/** The legend has a single entry for more members. */
const MOST_NAMED_MEMBERS = 6;

/** Values of one metric over the epochs, of E evaluations. */
export interface LearningCurves {
  title?: string;
  /** Name of the metric, for the y axis. */
  label: string;
  /** shape [E]. */
  epochs: Numbers;
  /** shape [M][E]; NaN where a member was not evaluated. */
  members: readonly Numbers[];
  /** shape [E]. */
  ensemble: Numbers;
  /** Whether smaller or larger values are better; `min` by default. */
  mode?: 'min' | 'max';
  /** Epochs of the chosen checkpoints, if another metric chose them; by default the optima of this metric. */
  best?: { members: readonly number[]; ensemble: number };
  legend?: LegendPosition;
}

/**
 * Draws learning curves of an ensemble: a thin line for each member with a triangle at its optimum, a bold black line
 * for the ensemble, and a dashed vertical line at the ensemble's optimum.
 */
export function learningCurves(curves: LearningCurves): Panel {
  const { title, label, epochs, members, ensemble, mode = 'min', best, legend } = curves;
  const bestEpoch = best?.ensemble ?? epochs[optimumIndex(ensemble, mode)];
  return {
    ...(title !== undefined && { title }),
    xLabel: 'Epoch',
    yLabel: label,
    ...(legend !== undefined && { legend }),
    marks: [
      ...(bestEpoch === undefined
        ? []
        : [verticalLine({ x: bestEpoch, color: INK, label: `Best ensemble (${bestEpoch})` })]),
      ...members.map((y, rank) =>
        line({ x: epochs, y, width: 1, ...rankStyle(rank), label: memberLabel(rank, members.length) }),
      ),
      line({ x: epochs, y: ensemble, width: 2.5, color: INK, label: 'Ensemble' }),
      ...members.flatMap((y, rank) => optimumMarker(epochs, y, rank, best?.members[rank], mode)),
    ],
  };
}

/** Index of the smallest (`min`) or largest (`max`) value, the first of equals; -1 where every value is NaN. */
export function optimumIndex(values: Numbers, mode: 'min' | 'max'): number {
  let best = -1;
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i])) continue;
    if (best < 0 || (mode === 'min' ? values[i] < values[best] : values[i] > values[best])) best = i;
  }
  return best;
}

/** Values of one metric for several things that are compared. */
export interface ComparisonBars {
  title?: string;
  /** Name of the metric, for the y axis. */
  label: string;
  /** Names of the bars; `\n` breaks a line. */
  names: readonly string[];
  /** One value per bar. */
  values: readonly number[];
  /** One colour per bar, repeated where there are more bars; blue by default. */
  colors?: readonly string[];
}

/**
 * Draws bars side by side, each with its value to four significant digits.
 *
 * @param options - what to compare
 */
export function comparisonBars({ title, label, names, values, colors = [BLUE] }: ComparisonBars): Panel {
  const valueLabels = values.map((value) => formatSignificant(value, 4));
  return {
    ...(title !== undefined && { title }),
    yLabel: label,
    marks: [bars({ labels: names, values, colors, valueLabels })],
  };
}

/** B bins of equal width over [0, 1]; NaN where a bin is empty. */
export interface ReliabilityBins {
  title?: string;
  /** Mean confidence of the samples in each bin, shape [B]. */
  confidence: readonly number[];
  /** Accuracy of the samples in each bin, shape [B]. */
  accuracy: readonly number[];
  /** Samples in each bin, shape [B]. */
  counts: readonly number[];
  /** Expected calibration error. */
  ece: number;
}

/**
 * Draws a reliability diagram (Guo et al., 2017, "On Calibration of Modern Neural Networks"): accuracy against mean
 * confidence per bin. On the dashed diagonal accuracy equals confidence; below it predictions are overconfident. Grey
 * bars show each bin's share of the samples.
 *
 * @param options - the bins, and the expected calibration error
 */
export function reliabilityDiagram({ title, confidence, accuracy, counts, ece }: ReliabilityBins): Panel {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const marks: Mark[] = [
    bars({
      positions: counts.map((_, bin) => (bin + 0.5) / counts.length),
      values: counts.map((count) => count / total),
      barWidth: 0.9 / counts.length,
      colors: ['#d0d0d0'],
      label: 'Share of samples',
    }),
    line({ x: [0, 1], y: [0, 1], width: 1, color: MUTED, dash: [4, 3], label: 'Perfect calibration' }),
    line({ x: confidence, y: accuracy, color: BLUE }),
    points({ x: confidence, y: accuracy, color: BLUE, size: 6, label: `Accuracy (ECE ${formatSignificant(ece, 3)})` }),
  ];
  const shared = { xLabel: 'Confidence', yLabel: 'Accuracy', xRange: [0, 1], yRange: [0, 1] } as const;
  return { ...(title !== undefined && { title }), ...shared, legend: 'top-left', marks };
}

function memberLabel(rank: number, members: number): string {
  if (members <= MOST_NAMED_MEMBERS) return `Member ${rank}`;
  return rank === 0 ? `${members} members` : '';
}

function optimumMarker(
  epochs: Numbers,
  values: Numbers,
  rank: number,
  bestEpoch: number | undefined,
  mode: 'min' | 'max',
): Mark[] {
  const index = bestEpoch === undefined ? optimumIndex(values, mode) : Array.from(epochs).indexOf(bestEpoch);
  if (index < 0) return [];
  const { color } = rankStyle(rank);
  return [points({ x: [epochs[index]], y: [values[index]], color, size: 8, shape: 'triangle-down' })];
}
