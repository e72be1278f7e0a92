import { z } from 'zod';
import { leavesOf } from '../../../options/parse.ts';
import type { RunRecord } from '../../run/record.ts';
import { type Estimate, estimate } from '../../../numeric/estimate.ts';

/**
 * A value of a run that lists can show, sort and group by, beside what each row has: `option:<path>` an option or
 * hyperparameter, `metric:<name>` the last value of a metric, `set:<set>/<split>/<metric>` the ensemble's score of an
 * evaluated set, `devices`, `commit` and `disk` (bytes).
 */
export const fieldSchema = z
  .string()
  .max(200)
  // It becomes part of a JSON path in quotes.
  .regex(/^(disk|devices|commit|(option|metric|set):[^"\\]+)$/, 'must be a field of runs, such as option:seed');

/** Fields of one answer. */
export const maximumFields = 40;

/** NaN and infinities of metrics are numbers; truth values of options and lists are texts. */
export type FieldValue = number | string;

/** Whether the values of a field are results of runs, whose mean over runs says something, and not settings of them. */
export function isMeasured(field: string): boolean {
  return field === 'disk' || field.startsWith('metric:') || field.startsWith('set:');
}

/** A metric of a single member: a run of 64 members has hundreds. */
const ofMember = /(^|\/)member_\d+_/;

/** The fields of a run, except for `disk`, which its record does not know. */
export function fieldsOf(
  record: Pick<RunRecord, 'config' | 'summary' | 'plan' | 'gitCommit'>,
): Record<string, FieldValue> {
  const { config, summary, plan, gitCommit } = record;
  const metrics = Object.entries(summary?.metrics ?? {}).filter(([name]) => !ofMember.test(name));
  const scores = (summary?.evaluatedSets ?? []).flatMap(({ set, split, ensemble }) =>
    Object.entries(ensemble).map(([metric, value]): [string, FieldValue] => [`set:${set}/${split}/${metric}`, value]),
  );
  const entries: [string, FieldValue][] = [
    ...leavesOf(config).map(([path, value]): [string, FieldValue] => [`option:${path}`, settingOf(value)]),
    ...metrics.map(([name, value]): [string, FieldValue] => [`metric:${name}`, value]),
    ...scores,
    ['devices', [...new Set(plan.map(({ device }) => device.id))].join(', ')],
    ['commit', gitCommit ?? ''],
  ];
  return Object.fromEntries(entries.filter(([field, value]) => fieldSchema.safeParse(field).success && value !== ''));
}

function settingOf(value: unknown): FieldValue {
  if (typeof value === 'number' || typeof value === 'string') return value;
  return JSON.stringify(value) ?? '';
}

const groupNames = ['project', 'strategy', 'task', 'status', 'members', 'tag', 'sweep', 'devices', 'commit'] as const;

/**
 * What runs can be grouped by. A run with several tags is in the group of each; those without a value are a group too.
 */
export const groupKeySchema = z.union([z.enum(groupNames), fieldSchema.refine((field) => field.startsWith('option:'))]);
export type GroupKey = z.output<typeof groupKeySchema>;

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
 * @param values one per run, null where it has none; of a measured field only those of runs that have finished, because
 * others have trained less
 */
export function summarizeField(field: string, values: readonly (FieldValue | null)[]): FieldSummary {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return { kind: 'none' };
  return isMeasured(field) ? summarizeResults(known) : summarizeSettings(known);
}

/** The mean of results and its standard error s / √n over those that are finite. */
function summarizeResults(values: readonly FieldValue[]): FieldSummary {
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
