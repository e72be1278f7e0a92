import type { Range, ScaleKind } from './axis.ts';
import type { Mark } from './marks.ts';

export type LegendCorner = 'top-left' | 'top-right' | 'bottom-left' | 'bottom-right';
export type LegendPosition = LegendCorner | 'auto' | 'none';

/** One chart of a figure. */
export interface Panel {
  title?: string;
  xLabel?: string;
  yLabel?: string;
  /** `linear` unless said otherwise. */
  xScale?: ScaleKind;
  yScale?: ScaleKind;
  /** What the axis shows; all of the data unless said otherwise. */
  xRange?: Range;
  yRange?: Range;
  /** Where the legend goes, which lists the marks that have a label; `auto`, the default: the corner with the least data. */
  legend?: LegendPosition;
  marks: readonly Mark[];
}

/** Panels on a grid, filled row by row. */
export interface Figure {
  title?: string;
  /** Size in px. */
  width: number;
  height: number;
  rows: number;
  columns: number;
  panels: readonly Panel[];
}

/** A figure whose sizes and ranges have been checked. @throws naming the value, the rule and the remedy. */
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
