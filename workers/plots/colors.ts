/** Colours on white paper. Lines and text reach a contrast that survives a photocopier; nothing is told by hue alone. */

/** Text, and the ensemble's line. */
export const INK = '#1a1a1a';
export const MUTED = '#5f6368';
export const GRID = '#e6e6e6';
export const PAPER = '#ffffff';

export const BLUE = '#0072b2';
export const VERMILLION = '#d55e00';

/**
 * The colour-blind-safe set of Okabe and Ito (2008), strongest on white first. Its black belongs to the ensemble, and
 * its yellow is darkened: as published, a thin line of it cannot be seen on white.
 */
const RANK_COLORS = [BLUE, VERMILLION, '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#b5a300'] as const;
const RANK_DASHES = [[], [5, 2], [1.5, 1.5], [6, 2, 1.5, 2]] as const;

export interface RankStyle {
  color: string;
  /** Lengths of dash and gap in px; empty for a solid line. */
  dash: readonly number[];
}

/** The colour of a rank; from the eighth rank on hues repeat with another dash pattern. */
export function rankStyle(rank: number): RankStyle {
  const round = Math.floor(rank / RANK_COLORS.length);
  return {
    color: RANK_COLORS[rank % RANK_COLORS.length] ?? INK,
    dash: RANK_DASHES[round % RANK_DASHES.length] ?? [],
  };
}
