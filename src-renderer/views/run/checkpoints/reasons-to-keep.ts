import type { MatrixCell } from './checkpoint-matrix.ts';

/** Why some checkpoints should not go unasked: `1 is pinned, 2 are the ensemble's best.` Null where nothing speaks for them. */
export function reasonsToKeep(cells: readonly MatrixCell[]): string | null {
  const reasons = [
    { count: cells.filter(({ isPinned }) => isPinned).length, what: 'pinned' },
    { count: cells.filter(({ isEnsembleBest }) => isEnsembleBest).length, what: 'of the ensemble’s best' },
    { count: cells.filter(({ isMemberBest }) => isMemberBest).length, what: 'the best of their rank' },
  ].filter(({ count }) => count > 0);
  if (reasons.length === 0) return null;
  return `${reasons.map(({ count, what }) => `${count} ${count === 1 ? 'is' : 'are'} ${what}`).join(', ')}.`;
}
