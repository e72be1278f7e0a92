import { type Estimate, estimate } from '../../../numeric/estimate.ts';
import { type FieldValue, isMeasured } from './run-fields.ts';

/** One field over several runs. */
export type FieldSummary =
  /** No run has a value. */
  | { kind: 'none' }
  /** Results: their mean with its standard error. `leftOut` results are NaN or infinite and do not count. */
  | ({ kind: 'estimate'; leftOut: number } & Estimate)
  /** A setting that all runs share. */
  | { kind: 'same'; value: FieldValue }
  /** A setting in which they differ: the number of its values; the smallest and largest if all are numbers. */
  | { kind: 'several'; count: number; range: [least: number, most: number] | null };

/**
 * Sums up a field over runs.
 * @param values one per run, null where it has none; of a measured field only those of runs that have finished, because others have trained less
 */
export function summarizeField(field: string, values: readonly (FieldValue | null)[]): FieldSummary {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return { kind: 'none' };
  return isMeasured(field) ? summarizeResults(known) : summarizeSettings(known);
}

/** The mean of results and its standard error s / √n over those that are finite. */
export function summarizeResults(values: readonly FieldValue[]): FieldSummary {
  const finite = values.filter((value) => typeof value === 'number' && Number.isFinite(value));
  return { kind: 'estimate', ...estimate(finite.map(Number)), leftOut: values.length - finite.length };
}

export function summarizeSettings(values: readonly FieldValue[]): FieldSummary {
  const different = [...new Set(values)];
  if (different.length < 2) return different.length === 0 ? { kind: 'none' } : { kind: 'same', value: different[0] };
  const numbers = different.filter((value) => typeof value === 'number');
  const isNumeric = numbers.length === different.length;
  return {
    kind: 'several',
    count: different.length,
    range: isNumeric ? [Math.min(...numbers), Math.max(...numbers)] : null,
  };
}
