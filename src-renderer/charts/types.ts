import type { ReliabilityBin } from '../../core/metrics/calibration.ts';

/** What the charts take. Everything here is data: no DOM, no Vue. */

/** A rank's variable of the theme, or ink. */
export type ColorToken = 'text' | `rank-${number}`;

/** What colours a shape or a name in a legend: a rank, or a variable of the theme; ink without either. */
export interface Colored {
  rank?: number;
  color?: ColorToken | 'accent' | 'bad';
}

/** Zero-based steps, epochs (may be fractional), or seconds since the run's start. */
export type ChartAxis = 'step' | 'epoch' | 'time';

export type Column = Int32Array | Float64Array;

/**
 * One line over columns that may be larger than it: only the first `length` elements count. To append, write behind them and
 * hand over a new object (and a new `series` array) with a larger `length`; nothing that was drawn before is computed again.
 */
export interface ChartSeries {
  /** Unique in its chart and the same while it lives. */
  id: string;
  label: string;
  /**
   * The ensemble is drawn in ink, a variant of it (the same members, combined otherwise) in dashed ink, ranks in their colours, others in
   * the colours of ranks by their order.
   */
  role: 'ensemble' | 'variant' | 'rank' | 'other';
  /** Decides colour and dashes; for `role: 'rank'` it also links hovering and hiding across charts. */
  rank?: number;
  /** Never falling. A line without the column of the axis that is shown is left out. */
  x: { step: Column; epoch: Column; time: Column | null };
  /** NaN is a gap. */
  y: Float64Array;
  length: number;
  /** Changes when points that were there before change; appending leaves it. */
  version: number;
  /** Drawn as an area behind the line, e.g. the smallest and the largest member. */
  band?: { lower: Float64Array; upper: Float64Array };
}

/** A point worth a sign, e.g. a member's optimum: "rank 3, best at epoch 12: 0.4101". */
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

/** A moment, e.g. a changed learning rate. */
export interface ChartEvent {
  x: Record<ChartAxis, number | null>;
  label: string;
}

export interface ChartRange {
  from: number;
  to: number;
}

/** What all charts of a page share, and what its address keeps (all but `hoveredRank` and `cursorX`). */
export interface ChartViewState {
  axis: ChartAxis;
  logX: boolean;
  logY: boolean;
  /** Weight of what came before: 0 (off) to 0.99. */
  smoothing: number;
  /** Fits the y axis to the 5th to 95th percentile of what is visible. */
  clipsOutliers: boolean;
  /** The visible part of the x axis, in its units; null for all of it. */
  zoom: ChartRange | null;
  hiddenRanks: ReadonlySet<number>;
  /** The rank whose lines stand out while the others fade. */
  hoveredRank: number | null;
  /** Where the cursor of all charts stands, in the axis's units. */
  cursorX: number | null;
}

export interface ChartView extends ChartViewState {
  toggleRank(rank: number): void;
  showAllRanks(): void;
  resetZoom(): void;
}

/** What a line shows at the cursor. */
export interface ReadoutValue {
  id: string;
  label: string;
  role: ChartSeries['role'];
  rank: number | null;
  /** Of the nearest point; smoothed as the line is. */
  value: number;
}

/** What every chart needs for its heading, its summary for screen readers and its exports. */
export interface ChartProps {
  title: string;
  /** Goes into the exports. */
  runName: string;
  /** One sentence, the formula and the reference: shown at the title. */
  metricHelp?: string;
}

export interface SeriesChartProps extends ChartProps {
  yLabel: string;
  series: readonly ChartSeries[];
  view: ChartView;
  markers?: readonly ChartMarker[];
  bands?: readonly ChartBand[];
  events?: readonly ChartEvent[];
  /** Stays linear when the page shows logarithms: for values that may be negative. */
  isLinear?: boolean;
}

export interface BarChartProps extends ChartProps {
  yLabel: string;
  /** `rank` gives a bar its rank's colour; without it, ink. */
  bars: readonly { label: string; value: number; rank?: number }[];
}

export interface HistogramProps extends ChartProps {
  xLabel: string;
  /** One outline of counts per group over shared bins, e.g. right and wrong predictions. */
  groups: readonly ({ label: string; values: Float32Array | Float64Array } & Colored)[];
  /** 30 unless told. */
  binCount?: number;
}

export interface ReliabilityDiagramProps extends ChartProps {
  /** E.g. the ensemble and a chosen member. */
  sets: readonly { label: string; bins: readonly ReliabilityBin[]; rank?: number }[];
}

export interface MatrixHeatmapProps extends ChartProps {
  /** Of rows and columns, e.g. ranks. */
  labels: readonly string[];
  /** Row-major, `[n, n]`. */
  values: Float64Array;
  valueLabel: string;
}

export interface RiskCoverageProps extends ChartProps {
  /** Never falling shares of samples that are answered, 0 to 1. */
  coverage: Float64Array;
  /** Error rate among the answered, same length. */
  risk: Float64Array;
  /** The least confidence that is answered at each coverage, same length. */
  threshold: Float64Array;
  /** The movable coverage (`v-model:selected`). */
  selected: number;
}

export interface UncertaintyBandProps extends ChartProps {
  xLabel: string;
  yLabel: string;
  /** By ascending feature; every column has the same length. */
  feature: Float64Array;
  mean: Float64Array;
  /** Standard deviations. */
  aleatoric: Float64Array;
  epistemic: Float64Array;
  /** The targets at the same features. */
  targets?: Float64Array;
}

/** How busy a device was over time, aligned with the strips of the others. */
export interface DeviceStripProps {
  label: string;
  /** Gives the strip its colour where the device trains just one rank; null: grey. */
  rank: number | null;
  /** Seconds since the run's start, ascending. */
  time: Float64Array;
  /** Share of the time since the element before that the device was busy; NaN: unknown. */
  load: Float64Array;
  /** Memory in use at these times, NaN: unknown. */
  memoryBytes: Float64Array;
  /** Null where the device has none of its own. */
  memoryTotalBytes: number | null;
  /** What is shown of `time`, the same for all strips. */
  range: ChartRange;
  /** The moment that the page's charts point at; null while they point at none. */
  cursorTime: number | null;
}
