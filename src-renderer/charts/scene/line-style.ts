import type { ChartSeries, ChartViewState, Colored, ColorToken, LineStyle } from '../types.ts';

/** Number of rank colours in the theme. */
export const hues = 8;

/** Resolved colours, for canvas and SVG. */
export type Palette = Record<ColorToken | 'text-muted' | 'border' | 'surface' | 'accent' | 'warn', string>;

/** Distinguishes ranks that share a hue: 0 to 7, 8 to 15, and so on. */
const dashes: readonly (readonly number[])[] = [[], [6, 3], [2, 2], [8, 3, 2, 3]];

/** Hue and dashes of a rank, the same in all charts. */
export function rankStyle(rank: number): Pick<LineStyle, 'color' | 'dash'> {
  return { color: `rank-${rank % hues}`, dash: dashes[Math.floor(rank / hues) % dashes.length] };
}

/** The colour in CSS. */
export function cssColor({ rank, color }: Colored): string {
  return `var(--${color ?? (rank === undefined ? 'text' : rankStyle(rank).color)})`;
}

/**
 * The ensemble is a bold line in ink, its variants are dashed, ranks are thin. While a rank is hovered its line stands
 * out and the others with a rank fade, unless the hovered rank is hidden.
 *
 * @param order position among the lines of the chart, which gives lines without a rank their colour
 */
export function lineStyle(series: ChartSeries, order: number, { hoveredRank, hiddenRanks }: ChartViewState): LineStyle {
  if (series.role === 'ensemble') return { color: 'text', width: 2.5, opacity: 1, dash: [] };
  if (series.role === 'variant') return { color: 'text', width: 2, opacity: 1, dash: [8, 4] };
  const base = rankStyle(series.rank ?? order);
  const width = series.role === 'other' ? 1.5 : 1.25;
  if (series.rank === undefined || hoveredRank === null || hiddenRanks.has(hoveredRank)) {
    return { ...base, width, opacity: 1 };
  }
  return series.rank === hoveredRank ? { ...base, width: 2, opacity: 1 } : { ...base, width, opacity: 0.25 };
}
