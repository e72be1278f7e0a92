import type { PlotAxis } from '../scene/axes.ts';
import type { ChartProps, ChartRange, Colored, PointSymbol } from '../types.ts';

/** Points of one kind. The columns have the same length. */
export interface PointGroup extends Colored {
  label: string;
  symbol: PointSymbol;
  /** Behind the other groups, faint, and without an entry in the legend. */
  isFaded?: boolean;
  /** What the chart reports when a point is clicked or hovered. */
  ids: readonly number[];
  /** A NaN leaves the point out. */
  x: readonly number[];
  /** A NaN lies on the lower edge. */
  y: readonly number[];
  /** Half the length of the vertical bar through each point, such as a standard error; NaN for none. */
  errors?: readonly number[];
}

/** A line through points by ascending x. */
export interface PlotLine extends Colored {
  label: string;
  x: readonly number[];
  /** NaN is a gap. */
  y: readonly number[];
  /** Keeps each value until the next point. */
  isStep?: boolean;
  /** Many lines in one, with gaps between them; without an entry in the legend. */
  isThin?: boolean;
  /** Behind the other lines, and faint. */
  isFaded?: boolean;
  dash?: string;
}

/** A vertical line, e.g. at an optimum. */
export interface PlotMark extends Colored {
  x: number;
  label: string;
}

/** A rectangle of values; null leaves a direction open. */
export interface Brush {
  x: ChartRange | null;
  y: ChartRange | null;
}

export interface ScatterPlotProps extends ChartProps {
  x: PlotAxis;
  y: PlotAxis;
  groups: readonly PointGroup[];
  lines?: readonly PlotLine[];
  marks?: readonly PlotMark[];
  /** Shown as a rectangle; dragging makes a new one. */
  brush?: Brush;
  /** The point that stands out, here and in other charts of the same things. */
  hovered?: number | null;
  /** Stands beside the title while no point is hovered. */
  about?: string;
  /** False where a chart beside it has the same groups. */
  hasLegend?: boolean;
  /** What an id stands for, e.g. `trial`. */
  idName: string;
}
