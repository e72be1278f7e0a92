import type { RunRow } from '../../../../core/protocol/pages/run-list.ts';
import { formatBytes, formatDuration, formatMetric, formatValue, metricLabel } from '../../../../core/text/numbers.ts';
import type { RunGroup } from '../../../../core/protocol/pages/runs/run-groups.ts';
import { formatTime } from '../../../components/basic/format.ts';
import type { RunItem } from './row-blocks.ts';
import { type Column, isOwnColumn, type OwnColumn } from './columns.ts';
import { type Estimate, formatEstimate } from '../../../../core/numeric/estimate.ts';
import type { FieldSummary, FieldValue } from '../../../../core/protocol/pages/runs/run-fields.ts';

/** What a cell shows. `title` says more: the reason of a dash, the number of runs of a mean. */
interface CellText {
  text: string;
  title?: string;
  isBad?: boolean;
}

const count = (runs: number, word = 'run'): string => `${runs} ${word}${runs === 1 ? '' : 's'}`;

/** The value of a field of one run. */
export function valueCell(field: string, value: FieldValue | null | undefined): CellText {
  if (value === undefined) return { text: '' };
  if (value === null) return { text: '–', title: missingReason(field) };
  if (typeof value === 'string') return field === 'commit' ? { text: value.slice(0, 8), title: value } : whole(value);
  if (Number.isNaN(value)) return { text: '–', title: 'NaN: the value could not be computed', isBad: true };
  if (!Number.isFinite(value)) return { text: String(value), isBad: true };
  if (field === 'disk') return { text: formatBytes(value), title: `${value.toLocaleString('en-US')} bytes` };
  return field.startsWith('option:') ? whole(shortest(value)) : { text: formatMetric(value), title: String(value) };
}

/** A field over the runs of a group or a sweep. */
export function summaryCell(field: string, summary: FieldSummary | undefined): CellText {
  switch (summary?.kind) {
    case 'estimate':
      return field === 'disk' ? estimateCell(summary, formatBytes) : estimateCell(summary);
    case 'same':
      return valueCell(field, summary.value);
    case 'several': {
      const { count: values, range } = summary;
      const text = range === null ? count(values, 'value') : `${shortest(range[0])} … ${shortest(range[1])}`;
      return { text, title: `The runs have ${values} different values` };
    }
    case 'none':
      return { text: '–', title: missingReason(field) };
    case undefined:
      return { text: '' };
  }
}

/**
 * A mean with its standard error, and n. One value has no error, which the title says.
 * @param format of quantities with a unit; absent: of metrics
 */
export function estimateCell(estimate: Estimate & { leftOut?: number }, format?: (value: number) => string): CellText {
  const { mean, standardError, count: runs, leftOut = 0 } = estimate;
  const left =
    leftOut === 0 ? '' : `; ${count(leftOut, 'value')} that ${leftOut === 1 ? 'is' : 'are'} NaN or infinite left out`;
  if (runs === 0)
    return { text: '–', title: leftOut === 0 ? 'No run has finished' : `No finite value${left}`, isBad: leftOut > 0 };
  if (runs === 1) {
    const text = format === undefined ? formatMetric(mean) : format(mean);
    return { text: `${text} ± –`, title: `n = 1: a standard error needs two finished runs${left}` };
  }
  const text = format === undefined ? formatEstimate(estimate) : `${format(mean)} ± ${format(standardError)}`;
  return { text, title: `Mean ± standard error (s/√n) of n = ${runs} finished runs${left}` };
}

/** A duration over runs, in seconds. */
function durationCell(estimate: Estimate): CellText {
  const { mean, standardError, count: runs } = estimate;
  const isShort = runs > 1 && mean < 60 && standardError > 0;
  const cell = estimateCell(estimate, formatDuration);
  return isShort ? { ...cell, text: `${formatEstimate(estimate)} s` } : cell;
}

function missingReason(field: string): string {
  if (field === 'disk') return 'Not measured yet';
  if (field === 'commit') return 'The project was in no git repository';
  if (field.startsWith('option:')) return 'The run has no such option';
  return 'The run has no such result';
}

/** A text that may be too long for its column. */
function whole(text: string): CellText {
  return { text, title: text };
}

/** `0.001` and `1e-8` as users type them. */
function shortest(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const text = String(Number(value.toPrecision(6)));
  return text.length > 9 ? formatValue(value) : text;
}

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
