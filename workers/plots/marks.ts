import type { Numbers } from './axis.ts';
import { BLUE, INK, MUTED } from './colors.ts';

/**
 * What a panel draws, in data coordinates; later marks cover earlier ones. Lengths are in px, opacities in [0, 1]. The
 * legend lists marks that have a `label`. NaN, infinities and, on logarithmic axes, values of zero and below are not
 * drawn; a line or band has a gap there.
 */
export type Mark = LineMark | BandMark | PointsMark | RuleMark | BarsMark | TextMark;

/** A line through points. */
export interface LineMark {
  kind: 'line';
  x: Numbers;
  y: Numbers;
  color: string;
  width: number;
  opacity: number;
  /** Lengths of dash and gap in px; empty for a solid line. */
  dash: readonly number[];
  label: string;
}

/** The area between two curves over the same x. */
export interface BandMark {
  kind: 'band';
  x: Numbers;
  lower: Numbers;
  upper: Numbers;
  color: string;
  opacity: number;
  label: string;
}

/** Points as circles or triangles. */
export interface PointsMark {
  kind: 'points';
  x: Numbers;
  y: Numbers;
  color: string;
  /** Diameter of a circle or height of a triangle, in px. */
  size: number;
  opacity: number;
  /** The centre of a circle is on the point; so is the tip of a triangle-down. */
  shape: 'circle' | 'triangle-down';
  label: string;
}

/** A line across the whole panel at one x (vertical) or one y (horizontal). */
export interface RuleMark {
  kind: 'vertical-line' | 'horizontal-line';
  at: number;
  color: string;
  width: number;
  opacity: number;
  dash: readonly number[];
  label: string;
}

/** Vertical bars from 0 (from the panel's lower edge where the axis is logarithmic). */
export interface BarsMark {
  kind: 'bars';
  /** Centres along x. */
  positions: Numbers;
  values: Numbers;
  /** Width of a bar along x. */
  barWidth: number;
  /** One colour per bar, repeated where there are more bars. */
  colors: readonly string[];
  opacity: number;
  /** Names under the bars, instead of the x axis's ticks, with `\n` between lines; empty for ticks. */
  labels: readonly string[];
  /** Text at the end of each bar; empty for none. */
  valueLabels: readonly string[];
  label: string;
}

/** Text at a point. */
export interface TextMark {
  kind: 'text';
  x: number;
  y: number;
  text: string;
  color: string;
  size: number;
  anchor: 'start' | 'middle' | 'end';
}

/** A mark whose `Needed` properties are required; the others are optional. */
export type MarkOptions<M, Needed extends keyof M> = Pick<M, Needed> & Partial<Omit<M, 'kind' | Needed>>;

const DASHED: readonly number[] = [4, 3];

/** A line through (x[i], y[i]). @throws Error when the columns differ in length. */
export function line(options: MarkOptions<LineMark, 'x' | 'y'>): LineMark {
  const { x, y, color = INK, width = 1.5, opacity = 1, dash = [], label = '' } = options;
  checkLengths('line', { x, y });
  return { kind: 'line', x, y, color, width, opacity, dash, label };
}

/** The area between `lower[i]` and `upper[i]` over x[i]. @throws Error when the columns differ in length. */
export function band(options: MarkOptions<BandMark, 'x' | 'lower' | 'upper'>): BandMark {
  const { x, lower, upper, color = BLUE, opacity = 0.2, label = '' } = options;
  checkLengths('band', { x, lower, upper });
  return { kind: 'band', x, lower, upper, color, opacity, label };
}

/** Points at (x[i], y[i]). @throws Error when the columns differ in length. */
export function points(options: MarkOptions<PointsMark, 'x' | 'y'>): PointsMark {
  const { x, y, color = INK, size = 4, opacity = 1, shape = 'circle', label = '' } = options;
  checkLengths('points', { x, y });
  return { kind: 'points', x, y, color, size, opacity, shape, label };
}

/** A vertical line across the panel at `x`, dashed by default. */
export function verticalLine(options: { x: number } & Omit<MarkOptions<RuleMark, never>, 'at'>): RuleMark {
  const { x, ...style } = options;
  return rule('vertical-line', x, style);
}

/** A horizontal line across the panel at `y`, dashed by default. */
export function horizontalLine(options: { y: number } & Omit<MarkOptions<RuleMark, never>, 'at'>): RuleMark {
  const { y, ...style } = options;
  return rule('horizontal-line', y, style);
}

/**
 * Bars of heights `values`, centred at `positions` (0, 1, 2, ... by default).
 * @throws Error when the columns differ in length.
 */
export function bars(options: MarkOptions<BarsMark, 'values'>): BarsMark {
  const { values, colors = [BLUE], opacity = 1, labels = [], valueLabels = [], barWidth = 0.7, label = '' } = options;
  const { positions = Array.from({ length: values.length }, (_, i) => i) } = options;
  checkLengths('bars', {
    values,
    positions,
    ...(labels.length > 0 && { labels }),
    ...(valueLabels.length > 0 && { valueLabels }),
  });
  return { kind: 'bars', positions, values, barWidth, colors, opacity, labels, valueLabels, label };
}

/** Text that starts, is centred or ends at (x, y), depending on `anchor`. */
export function text(options: MarkOptions<TextMark, 'x' | 'y' | 'text'>): TextMark {
  const { x, y, text, color = INK, size = 10, anchor = 'start' } = options;
  return { kind: 'text', x, y, text, color, size, anchor };
}

/** The values that an axis must show. */
export function columnsOf(mark: Mark): { x: Numbers[]; y: Numbers[] } {
  switch (mark.kind) {
    case 'line':
    case 'points':
      return { x: [mark.x], y: [mark.y] };
    case 'band':
      return { x: [mark.x], y: [mark.lower, mark.upper] };
    case 'bars': {
      const positions = Array.from(mark.positions);
      const edges = positions.flatMap((position) => [position - mark.barWidth / 2, position + mark.barWidth / 2]);
      return { x: [edges], y: [mark.values, [0]] };
    }
    case 'vertical-line':
      return { x: [[mark.at]], y: [] };
    case 'horizontal-line':
      return { x: [], y: [[mark.at]] };
    case 'text':
      break;
  }
  return { x: [[mark.x]], y: [[mark.y]] };
}

function rule(kind: RuleMark['kind'], at: number, style: Omit<MarkOptions<RuleMark, never>, 'at'>): RuleMark {
  const { color = MUTED, width = 1, opacity = 1, dash = DASHED, label = '' } = style;
  return { kind, at, color, width, opacity, dash, label };
}

function checkLengths(kind: string, columns: Readonly<Record<string, ArrayLike<unknown>>>): void {
  const lengths = Object.entries(columns).map(([name, { length }]) => `${name} ${length}`);
  if (new Set(Object.values(columns).map(({ length }) => length)).size > 1) {
    throw new Error(`All columns of ${kind} must be of one length, but are: ${lengths.join(', ')}.`);
  }
}
