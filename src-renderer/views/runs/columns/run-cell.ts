import type { RunRow } from '../../../../core/protocol/pages/run-list.ts';
import { formatDuration, formatMetric, metricLabel } from '../../../../core/text/numbers.ts';
import type { RunGroup } from '../../../../core/protocol/pages/runs/run-groups.ts';
import { formatTime } from '../../../text/format.ts';
import type { RunItem } from '../rows/row-blocks.ts';
import { type CellText, durationCell, estimateCell, summaryCell, valueCell } from './cell-text.ts';
import { type Column, isOwnColumn, type OwnColumn } from './columns.ts';

/** A cell with the name of its metric before the value. */
export interface RunCellText extends CellText {
  label?: string;
}

/**
 * The text of a cell of a run, or of the sweep that its row stands for.
 * @param place of the column among those with a field
 */
export function runCell({ row, sweep, values }: RunItem, { key, field }: Column, place: number): RunCellText {
  if (field !== null) {
    return sweep === undefined ? valueCell(field, values?.[place]) : summaryCell(field, sweep.values?.[place]);
  }
  if (key === 'best') return bestCell(row, sweep?.best);
  if (key === 'duration' && sweep !== undefined)
    return { text: '–', title: 'Each run of a sweep has a separate duration' };
  return isOwnColumn(key) ? ownCell(row, key) : { text: '' };
}

function ownCell(row: RunRow, key: OwnColumn): RunCellText {
  switch (key) {
    case 'created':
      return { text: formatTime(row.createdAt), title: row.createdAt };
    case 'duration':
      return row.endedAt === null
        ? { text: '–', title: 'The run has not ended' }
        : { text: formatDuration(row.trainedSeconds) };
    case 'members':
      return { text: String(row.members) };
    case 'tags':
      return { text: row.tags.join(', '), title: row.tags.join(', ') };
    case 'best':
    case 'trend':
      return { text: '' };
    default:
      return { text: row[key], title: row[key] };
  }
}

/** The best value of a run; of a sweep the mean with its standard error. */
function bestCell(
  { best, endedAt }: RunRow,
  ofSweep: ({ metric: string } & Parameters<typeof estimateCell>[0]) | null | undefined,
): RunCellText {
  if (ofSweep === null) return { text: '–', title: 'No run of the sweep has finished with a finite value' };
  if (ofSweep !== undefined) return { ...estimateCell(ofSweep), label: metricLabel(ofSweep.metric) };
  if (best === null)
    return { text: '–', title: endedAt === null ? 'Not evaluated yet' : 'The run was never evaluated' };
  const label = metricLabel(best.metric);
  if (Number.isNaN(best.value)) return { label, text: '–', title: 'NaN: the value could not be computed', isBad: true };
  return {
    label,
    text: formatMetric(best.value),
    title: `at epoch ${best.epoch + 1}`,
    isBad: !Number.isFinite(best.value),
  };
}

/** The text of a cell of a group. */
export function groupCell(group: RunGroup, { key, field }: Column, place: number): RunCellText {
  if (field !== null) return summaryCell(field, group.values[place]);
  switch (key) {
    case 'best': {
      const { best } = group;
      if (best === 'mixed')
        return { text: '–', title: 'The runs monitor different metrics, so that they have no common mean' };
      if (best === null) return { text: '–', title: 'No run of the group has finished with a finite value' };
      return { ...estimateCell(best), label: metricLabel(best.metric) };
    }
    case 'duration':
      return durationCell(group.duration);
    case 'members':
      return summaryCell('option:members', group.members);
    case 'created':
      return { text: formatTime(group.newest), title: `The newest run: ${group.newest}` };
    case 'status':
      return { text: group.active > 0 ? `${group.active} active` : `${group.finished} finished` };
    default:
      return { text: '' };
  }
}
