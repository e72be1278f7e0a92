import type { ChartProps, ChartRange, Colored, PointSymbol } from '../types.ts';

/** What took some time in a row, e.g. a trial on a device. */
export interface Span extends ChartRange {
  id: number;
  /** Index of a row. */
  row: number;
}

/** Spans of one kind. */
export interface SpanGroup extends Colored {
  label: string;
  /** In the middle of each span that has room for it. */
  symbol: PointSymbol;
  isFaded?: boolean;
  spans: readonly Span[];
}

export interface SpanChartProps extends ChartProps {
  rows: readonly string[];
  groups: readonly SpanGroup[];
  /** What `from` and `to` count, in seconds. */
  xLabel: string;
  hovered?: number | null;
  /** What an id stands for, e.g. `trial`. */
  idName: string;
}
