import type { PlotAxis } from '../scene/axes.ts';
import type { ChartProps, ChartRange, Colored } from '../types.ts';

/** One of the parallel axes. */
export interface ParallelAxis extends PlotAxis {
  id: string;
  /** The selected values; null: all. */
  brush: ChartRange | null;
  /** How far a key moves an end of the brush, as a share of the axis. */
  keyStep: number;
}

/** Lines of one kind: a row of values for each, one value for each axis. A NaN interrupts the line. */
export interface ParallelGroup extends Colored {
  label: string;
  /** Behind the other groups, faint, and without an entry in the legend. */
  isFaded?: boolean;
  opacity: number;
  width: number;
  ids: readonly number[];
  rows: readonly (readonly number[])[];
}

export interface ParallelCoordinatesProps extends ChartProps {
  axes: readonly ParallelAxis[];
  groups: readonly ParallelGroup[];
  /** The line that stands out. */
  hovered?: number | null;
  /** What an id stands for, e.g. `trial`. */
  idName: string;
  /** Names of single lines, in place of their ids. */
  nameOf?: (id: number) => string;
  /** False where something beside it says what the colours mean. */
  hasLegend?: boolean;
}
