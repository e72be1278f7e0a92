/** How well a search finds hits. Legend: N candidates in the pool, H hits among them, n labels. */

/** The hits among the first 1, 2, ..., L labels, shape `[L]`. @param isHit of each label, in the order in which they were found */
export function hitsFound(isHit: readonly boolean[]): Int32Array {
  let found = 0;
  return Int32Array.from(isHit, (own) => (found += Number(own)));
}

/** The hits that a search which knew them would have after `labels` labels, of which the first `started` gave `hitsAtStart`. */
export function idealHits(labels: number, { started, hitsAtStart, hits }: HitsOfPool): number {
  return Math.min(hits, hitsAtStart + Math.max(0, labels - started));
}

/** The hits that labels at random give in the mean, after the same start: the remaining hits in proportion to the labels among the remaining candidates. */
export function expectedRandomHits(labels: number, { candidates, started, hitsAtStart, hits }: HitsOfPool): number {
  const share = candidates === started ? 0 : Math.max(0, labels - started) / (candidates - started);
  return hitsAtStart + (hits - hitsAtStart) * share;
}

export interface HitsOfPool {
  /** N. */
  candidates: number;
  /** H. */
  hits: number;
  /** Labels before the first choice. */
  started: number;
  /** Hits among them. */
  hitsAtStart: number;
}

/**
 * The enrichment factor: the share of hits among labels, over their share in the pool, (h/n) / (H/N). 1 is what random labels give; NaN without labels
 * or hits. Source: Pearlman and Charifson, "Improved scoring of ligand-protein interactions using OWFEG free energy grids", J. Med. Chem. 2001.
 */
export function enrichmentFactor(
  found: number,
  labels: number,
  { hits, candidates }: Pick<HitsOfPool, 'hits' | 'candidates'>,
): number {
  return found / labels / (hits / candidates);
}
