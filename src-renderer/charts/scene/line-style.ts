import type { ChartSeries, ChartViewState, Colored, ColorToken } from '../types.ts';

/** CSS variables that lines may have as their colour. */
export const hues = 8;

/** Colours as a canvas takes them. */
export type Palette = Record<ColorToken | 'text-muted' | 'border' | 'surface' | 'accent' | 'warn', string>;

export interface LineStyle {
  color: ColorToken;
  width: number;
  opacity: number;
  /** Lengths drawn and left out, in pixels; empty for a solid line. */
  dash: readonly number[];
}

/** The second cue for ranks that share a hue: 8 to 15, 16 to 23, and so on. */
const dashes: readonly (readonly number[])[] = [[], [6, 3], [2, 2], [8, 3, 2, 3]];

/** Hue and dashes of a rank, the same everywhere. */
export function rankStyle(rank: number): Pick<LineStyle, 'color' | 'dash'> {
  return { color: `rank-${rank % hues}`, dash: dashes[Math.floor(rank / hues) % dashes.length] };
}

/** The colour in CSS. */
export function cssColor({ rank, color }: Colored): string {
  return `var(--${color ?? (rank === undefined ? 'text' : rankStyle(rank).color)})`;
}

/**
 * The ensemble is ink and bold, a variant of it dashed; a rank is thin and stands out while it is hovered, when the other ranks fade,
 * unless it is hidden.
 *
 * @param order position among the lines of the chart, which colours others that have no rank
 */
export function lineStyle(series: ChartSeries, order: number, { hoveredRank, hiddenRanks }: ChartViewState): LineStyle {
  if (series.role === 'ensemble') return { color: 'text', width: 2.5, opacity: 1, dash: [] };
  if (series.role === 'variant') return { color: 'text', width: 2, opacity: 1, dash: [8, 4] };
  const base = rankStyle(series.rank ?? order);
  if (series.role === 'other') return { ...base, width: 1.5, opacity: 1 };
  if (hoveredRank === null || hiddenRanks.has(hoveredRank)) return { ...base, width: 1, opacity: 0.6 };
  return series.rank === hoveredRank ? { ...base, width: 2, opacity: 1 } : { ...base, width: 1, opacity: 0.2 };
}
