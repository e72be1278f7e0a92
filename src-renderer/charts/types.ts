import type { ReliabilityBin } from '../../core/metrics/calibration.ts';
import type { Help } from '../components/basic/glossary.ts';

/** The data and properties of the charts, without DOM and Vue. */

/** A rank's variable of the theme, or ink. */
export type ColorToken = 'text' | `rank-${number}`;

/** How a line is drawn. */
export interface LineStyle {
  color: ColorToken;
  width: number;
  opacity: number;
  /** Lengths of dashes and gaps, in pixels; empty for a solid line. */
  dash: readonly number[];
}

/** What colours a shape or a name in a legend: a rank, or a variable of the theme; ink without either. */
export interface Colored {
  rank?: number;
  color?: ColorToken | 'text-muted' | 'accent' | 'good' | 'warn' | 'bad';
}

/** Shapes of points, which differ without their colours. */
export type PointSymbol = 'dot' | 'ring' | 'cross' | 'bars' | 'arrow';

/** Zero-based steps, epochs (may be fractional), or seconds since the run's start. */
export type ChartAxis = 'step' | 'epoch' | 'time';

export type Column = Int32Array | Float64Array;

/**
 * One line over columns of which only the first `length` elements count. To append, write behind them and pass a new
 * object (and a new `series` array) with a larger `length`: only the new points are computed.
 */
export interface ChartSeries {
  /** Unique in its chart and constant. */
  id: string;
  label: string;
  /**
   * The ensemble is drawn in ink, a variant of it (the same members, combined differently) in dashed ink, ranks in
   * their colours, and others in the colours of ranks by their order.
   */
  role: 'ensemble' | 'variant' | 'rank' | 'other';
  /** Sets colour and dashes, and links hovering and hiding across charts. */
  rank?: number;
  /**
   * Ascending; equal values may repeat. `epoch` counts completed epochs, `time` seconds since the run's start. A line
   * without a column for the current axis is left out.
   */
  x: { step: Column; epoch: Column; time: Column | null };
  /** NaN is a gap. */
  y: Float64Array;
  length: number;
  /** Mean distance of the points that were measured, in steps, where the page holds only some of them. */
  stepsPerPoint?: number | undefined;
  /** Changes when existing points change, but not when points are appended. */
  version: number;
  /** Drawn as an area behind the line, e.g. the smallest and the largest member. */
  band?: { lower: Float64Array; upper: Float64Array };
}

/** A marked point, e.g. a member's optimum: "rank 3, best at epoch 12: 0.4101". */
export interface ChartMarker {
  seriesId: string;
  x: Record<ChartAxis, number | null>;
  y: number;
  label: string;
}

/** A stretch of the x axis, e.g. the patience window. */
export interface ChartBand {
  from: Record<ChartAxis, number | null>;
  to: Record<ChartAxis, number | null>;
  label: string;
}

/** A marked moment, e.g. a changed learning rate. */
export interface ChartEvent {
  x: Record<ChartAxis, number | null>;
  label: string;
}

export interface ChartRange {
  from: number;
  to: number;
}

/** What all charts of a page share. The address keeps all of it except `hoveredRank` and `cursorX`. */
export interface ChartViewState {
  axis: ChartAxis;
  logX: boolean;
  logY: boolean;
  /** Weight of earlier points: 0 (off) to 0.99. */
  smoothing: number;
  /** Fits the y axis to the 5th to 95th percentile of the visible points. */
  clipsOutliers: boolean;
  /** The visible part of the x axis, in its units; null shows all of it. */
  zoom: ChartRange | null;
  hiddenRanks: ReadonlySet<number>;
  /** The rank whose lines stand out while others fade. */
  hoveredRank: number | null;
  /** The cursor shared by all charts, in the axis's units. */
  cursorX: number | null;
}

export interface ChartView extends ChartViewState {
  toggleRank(rank: number): void;
  showAllRanks(): void;
  resetZoom(): void;
}

/** A line's point at the cursor. */
export interface ReadoutValue {
  id: string;
  label: string;
  role: ChartSeries['role'];
  rank: number | null;
  /** Of the nearest point, in the axis's units. */
  x: number;
  /** Of the nearest point, smoothed like the line. */
  value: number;
  style: LineStyle;
}

/** For the heading, the summary for screen readers and the exports of every chart. */
export interface ChartProps {
  title: string;
  /** Appears in the exports. */
  runName: string;
  /** What the chart shows: one sentence, the formula and the reference, behind a button beside the title. */
  metricHelp?: Help;
}

export interface SeriesChartProps extends ChartProps {
  yLabel: string;
  series: readonly ChartSeries[];
  view: ChartView;
  markers?: readonly ChartMarker[];
  bands?: readonly ChartBand[];
  events?: readonly ChartEvent[];
  /** Keeps the y axis linear, for values that may be negative. */
  isLinear?: boolean;
}

export interface BarChartProps extends ChartProps {
  yLabel: string;
  /** `rank` gives a bar its rank's colour; without it, the accent. `interval` is drawn as a line over the bar. */
  bars: readonly { label: string; value: number; rank?: number; interval?: { low: number; high: number } }[];
  /** Bars lie, the first at the top: for long names. */
  isLying?: boolean;
}

export interface HistogramProps extends ChartProps {
  xLabel: string;
  /** One outline of counts per group over shared bins, e.g. right and wrong predictions. */
  groups: readonly ({ label: string; values: Float32Array | Float64Array } & Colored)[];
  /** Default: 30. */
  binCount?: number;
  /** What the bins cover; by default from the smallest to the largest finite value. */
  range?: ChartRange;
  /** A dashed line at a count, e.g. the one that is expected. */
  level?: { count: number; label: string };
  /** Stands beside the title. */
  about?: string;
  /** What is counted. Default: samples. */
  countLabel?: string;
}

export interface ReliabilityDiagramProps extends ChartProps {
  /** E.g. the ensemble and a chosen member. */
  sets: readonly { label: string; bins: readonly ReliabilityBin[]; rank?: number }[];
}

export interface MatrixHeatmapProps extends ChartProps {
  /** Names of rows and columns, at both axes. */
  labels: readonly string[];
  /** What the rows and columns are, `member`; the labels are then its numbers. */
  noun?: string;
  /** Row-major, `[n, n]`. */
  values: Float64Array;
  valueLabel: string;
}

export interface RiskCoverageProps extends ChartProps {
  /** Ascending shares of answered samples, 0 to 1. */
  coverage: Float64Array;
  /** Error rate among the answered, same length. */
  risk: Float64Array;
  /** The lowest confidence answered at each coverage, same length. */
  threshold: Float64Array;
  /** The selected coverage (`v-model:selected`). */
  selected: number;
}

export interface UncertaintyBandProps extends ChartProps {
  xLabel: string;
  yLabel: string;
  /** Ascending; all columns have the same length. */
  feature: Float64Array;
  mean: Float64Array;
  /** Standard deviations. */
  aleatoric: Float64Array;
  epistemic: Float64Array;
  /** The targets at the same features. */
  targets?: Float64Array;
}

/** The load of a device over time; the strips of all devices align. */
export interface DeviceStripProps {
  label: string;
  /** Gives the strip its colour if the device trains a single rank; null: grey. */
  rank: number | null;
  /** Seconds since the run's start, ascending. */
  time: Float64Array;
  /** Share of the time since the previous element that the device was busy; NaN: unknown. */
  load: Float64Array;
  /** Memory in use at these times, NaN: unknown. */
  memoryBytes: Float64Array;
  /** Null for a device without dedicated memory. */
  memoryTotalBytes: number | null;
  /** The visible part of `time`, the same for all strips. */
  range: ChartRange;
  /** The moment at the cursor of the page's charts; null without a cursor. */
  cursorTime: number | null;
}
