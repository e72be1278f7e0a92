import { formatBytes, formatDuration, formatMetric } from '../../../../core/text/numbers.ts';
import type { MatrixCell } from './checkpoint-matrix.ts';

/** `rank 3 · epoch 12, step 480 · ensemble-best · own score 0.4101 · 1.2 MiB · 3 m ago`. */
export function describeCell(cell: MatrixCell, nowMs: number = Date.now()): string {
  const ageSeconds = Math.max(0, Math.round((nowMs - Date.parse(cell.savedAt)) / 1000));
  return [
    `rank ${cell.rank}`,
    `epoch ${cell.epoch + 1}, step ${cell.step}`,
    cell.names.join(', '),
    cell.score === null ? 'not evaluated' : `own score ${formatMetric(cell.score)}`,
    formatBytes(cell.bytes),
    `${formatDuration(ageSeconds)} ago`,
    ...(cell.isPinned ? ['pinned'] : []),
  ].join(' · ');
}

/** A cell for screen readers, with the sets that hold it: `AB`, empty for none. */
export function labelOfCell(cell: MatrixCell, sets: string): string {
  return [
    `rank ${cell.rank}, epoch ${cell.epoch + 1}, step ${cell.step}: ${cell.names.join(', ')}`,
    ...(cell.isPinned ? ['pinned'] : []),
    cell.score === null ? 'not evaluated' : `own score ${cell.score.toPrecision(4)}`,
    sets === '' ? 'in no set' : `in set ${sets.split('').join(' and ')}`,
  ].join(', ');
}

/** Why checkpoints should be deleted only after confirmation: `1 is pinned, 2 are of the ensemble’s best.` Null for no reason. */
export function reasonsToKeep(cells: readonly MatrixCell[]): string | null {
  const reasons = [
    { count: cells.filter(({ isPinned }) => isPinned).length, what: 'pinned' },
    { count: cells.filter(({ isEnsembleBest }) => isEnsembleBest).length, what: 'of the ensemble’s best' },
    { count: cells.filter(({ isMemberBest }) => isMemberBest).length, what: 'the best of their rank' },
  ].filter(({ count }) => count > 0);
  if (reasons.length === 0) return null;
  return `${reasons.map(({ count, what }) => `${count} ${count === 1 ? 'is' : 'are'} ${what}`).join(', ')}.`;
}
