import type { Numbers } from './axis.ts';
import { BLUE, INK, MUTED } from './colors.ts';

/**
 * What a panel draws, in data coordinates, the first mark undermost. Lengths are in px, opacities in [0, 1]; a mark with a
 * `label` is in the legend. NaN, infinities and, on logarithmic axes, values of zero and below are left out: a line or band
 * has a gap there.
 */
export type Mark = LineMark | BandMark | PointsMark | RuleMark | BarsMark | TextMark;

export interface LineMark {
  kind: 'line';
  x: Numbers;
  y: Numbers;
  color: string;
  width: number;
  opacity: number;
  /** Lengths of dash and gap; empty for a solid line. */
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

export interface PointsMark {
  kind: 'points';
  x: Numbers;
  y: Numbers;
  color: string;
  /** Diameter or height. */
  size: number;
  opacity: number;
  /** A circle lies with its centre on the point, a triangle-down with its tip. */
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
  /** One a bar, repeated where there are more bars. */
  colors: readonly string[];
  opacity: number;
  /** Names under the bars instead of the x axis's ticks, with `\n` between lines; none: ticks as usual. */
  labels: readonly string[];
  /** Text at the end of each bar; none: nothing there. */
  valueLabels: readonly string[];
  label: string;
}

export interface TextMark {
  kind: 'text';
  x: number;
  y: number;
  text: string;
  color: string;
  size: number;
  anchor: 'start' | 'middle' | 'end';
}

/** What must be given of a mark, and what may. */
type Options<M, Needed extends keyof M> = Pick<M, Needed> & Partial<Omit<M, 'kind' | Needed>>;

const DASHED: readonly number[] = [4, 3];

export function line(options: Options<LineMark, 'x' | 'y'>): LineMark {
  const { x, y, color = INK, width = 1.5, opacity = 1, dash = [], label = '' } = options;
  checkLengths('line', { x, y });
  return { kind: 'line', x, y, color, width, opacity, dash, label };
}

export function band(options: Options<BandMark, 'x' | 'lower' | 'upper'>): BandMark {
  const { x, lower, upper, color = BLUE, opacity = 0.2, label = '' } = options;
  checkLengths('band', { x, lower, upper });
  return { kind: 'band', x, lower, upper, color, opacity, label };
}

export function points(options: Options<PointsMark, 'x' | 'y'>): PointsMark {
  const { x, y, color = INK, size = 4, opacity = 1, shape = 'circle', label = '' } = options;
  checkLengths('points', { x, y });
  return { kind: 'points', x, y, color, size, opacity, shape, label };
}

export function verticalLine(options: { x: number } & Omit<Options<RuleMark, never>, 'at'>): RuleMark {
  const { x, ...style } = options;
  return rule('vertical-line', x, style);
}

export function horizontalLine(options: { y: number } & Omit<Options<RuleMark, never>, 'at'>): RuleMark {
  const { y, ...style } = options;
  return rule('horizontal-line', y, style);
}

export function bars(options: Options<BarsMark, 'values'>): BarsMark {
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

export function text(options: Options<TextMark, 'x' | 'y' | 'text'>): TextMark {
  const { x, y, text, color = INK, size = 10, anchor = 'start' } = options;
  return { kind: 'text', x, y, text, color, size, anchor };
}

/** All that an axis must make room for. */
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

function rule(kind: RuleMark['kind'], at: number, style: Omit<Options<RuleMark, never>, 'at'>): RuleMark {
  const { color = MUTED, width = 1, opacity = 1, dash = DASHED, label = '' } = style;
  return { kind, at, color, width, opacity, dash, label };
}

function checkLengths(kind: string, columns: Readonly<Record<string, ArrayLike<unknown>>>): void {
  const lengths = Object.entries(columns).map(([name, { length }]) => `${name} ${length}`);
  if (new Set(Object.values(columns).map(({ length }) => length)).size > 1) {
    throw new Error(`All columns of ${kind} must be of one length, but are: ${lengths.join(', ')}.`);
  }
}
