import { type Estimate, formatEstimate } from '../../../../core/numeric/estimate.ts';
import type { FieldSummary, FieldValue } from '../../../../core/protocol/pages/runs/run-fields.ts';
import { formatBytes, formatDuration, formatMetric, formatValue } from '../../../../core/text/numbers.ts';

/** What a cell shows. `title` says more: the reason of a dash, the number of runs of a mean. */
export interface CellText {
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
export function durationCell(estimate: Estimate): CellText {
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
