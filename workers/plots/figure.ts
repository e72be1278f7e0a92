import type { Range, ScaleKind } from './axis.ts';
import type { Mark } from './marks.ts';

/** A corner of a panel. */
export type LegendCorner = 'top-left' | 'top-right' | 'bottom-left' | 'bottom-right';
/** Where a panel's legend goes. `auto`: the corner with the least data. */
export type LegendPosition = LegendCorner | 'auto' | 'none';

/** One chart of a figure. */
export interface Panel {
  title?: string;
  xLabel?: string;
  yLabel?: string;
  /** `linear` by default. */
  xScale?: ScaleKind;
  /** `linear` by default. */
  yScale?: ScaleKind;
  /** The range of the axis; by default that of the data. */
  xRange?: Range;
  /** The range of the axis; by default that of the data. */
  yRange?: Range;
  /** Where the legend of marks with a label goes; `auto` by default. */
  legend?: LegendPosition;
  /** Drawn in this order. */
  marks: readonly Mark[];
}

/** Panels on a grid, filled row by row. */
export interface Figure {
  title?: string;
  /** Width in px. */
  width: number;
  /** Height in px. */
  height: number;
  /** Rows of the grid. */
  rows: number;
  /** Columns of the grid. */
  columns: number;
  /** The panels, at most rows * columns. */
  panels: readonly Panel[];
}

/** Checks a figure's sizes and ranges. @throws Error that names the value, the rule and the remedy. */
export function figure(options: Figure): Figure {
  const { width, height, rows, columns, panels } = options;
  checkNumber('width', width, Number.isFinite);
  checkNumber('height', height, Number.isFinite);
  checkNumber('rows', rows, Number.isInteger);
  checkNumber('columns', columns, Number.isInteger);
  if (panels.length > rows * columns) {
    throw new Error(
      `${panels.length} panels do not fit ${rows} rows of ${columns}: add rows or columns, or leave panels out.`,
    );
  }
  for (const { xRange, yRange, xScale, yScale } of panels) {
    checkRange('xRange', xRange, xScale);
    checkRange('yRange', yRange, yScale);
  }
  return options;
}

function checkNumber(name: string, value: number, rule: (value: number) => boolean): void {
  if (rule(value) && value > 0) return;
  const kind = rule === Number.isInteger ? 'whole number' : 'number';
  throw new Error(`A figure's ${name} must be a ${kind} above 0, not ${value}.`);
}

function checkRange(name: string, range: Range | undefined, scale: ScaleKind = 'linear'): void {
  if (range === undefined) return;
  const [low, high] = range;
  if (Number.isFinite(low) && Number.isFinite(high) && low < high && (scale === 'linear' || low > 0)) return;
  throw new Error(
    `${name} [${low}, ${high}] must be two finite numbers, the lower first` +
      `${scale === 'log' ? ', both above 0 on a logarithmic axis' : ''}; leave it out to show all of the data.`,
  );
}
