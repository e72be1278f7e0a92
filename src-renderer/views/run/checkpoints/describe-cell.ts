import { formatDuration, formatValue } from '../../../charts/number-format.ts';
import { formatBytes } from '../../../text/format.ts';
import type { MatrixCell } from './checkpoint-matrix.ts';

/** `rank 3 · epoch 12, step 480 · ensemble-best · own score 0.4101 · 1.2 MiB · 3 m ago`. */
export function describeCell(cell: MatrixCell, nowMs: number = Date.now()): string {
  const ageSeconds = Math.max(0, Math.round((nowMs - Date.parse(cell.savedAt)) / 1000));
  return [
    `rank ${cell.rank}`,
    `epoch ${cell.epoch + 1}, step ${cell.step}`,
    cell.names.join(', '),
    cell.score === null ? 'not evaluated' : `own score ${formatValue(cell.score)}`,
    formatBytes(cell.bytes),
    `${formatDuration(ageSeconds)} ago`,
    ...(cell.isPinned ? ['pinned'] : []),
  ].join(' · ');
}
