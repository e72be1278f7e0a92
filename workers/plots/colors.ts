/** Colours on white paper. They remain distinct in greyscale, and hue never carries information alone. */

/** Colour of text and of the ensemble's line. */
export const INK = '#1a1a1a';
/** Colour of secondary lines and labels. */
export const MUTED = '#5f6368';
export const GRID = '#e6e6e6';
export const PAPER = '#ffffff';

/** Okabe and Ito's blue: default of bars and bands, and rank 0. */
export const BLUE = '#0072b2';
/** Okabe and Ito's vermillion: rank 1. */
export const VERMILLION = '#d55e00';

/**
 * The colour-blind-safe set of Okabe and Ito (2008), strongest contrast on white first. The ensemble uses its black.
 * Its yellow is darkened, because a thin line in the published yellow is invisible on white.
 */
const RANK_COLORS = [BLUE, VERMILLION, '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#b5a300'] as const;
const RANK_DASHES = [[], [5, 2], [1.5, 1.5], [6, 2, 1.5, 2]] as const;

/** How a rank's line is drawn. */
export interface RankStyle {
  color: string;
  /** Lengths of dash and gap in px; empty for a solid line. */
  dash: readonly number[];
}

/** The line style of a rank: seven colours, repeated with other dash patterns from rank 7. */
export function rankStyle(rank: number): RankStyle {
  const round = Math.floor(rank / RANK_COLORS.length);
  return {
    color: RANK_COLORS[rank % RANK_COLORS.length] ?? INK,
    dash: RANK_DASHES[round % RANK_DASHES.length] ?? [],
  };
}
