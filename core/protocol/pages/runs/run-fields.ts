import { z } from 'zod';
import { leavesOf } from '../../../options/leaves.ts';
import type { RunRecord } from '../../run/record.ts';

/**
 * A value of a run that lists can show, sort and group by, beside what each row has:
 * `option:<path>` an option or hyperparameter, `metric:<name>` the last value of a metric, `set:<set>/<split>/<metric>` the ensemble's score of
 * an evaluated set, `devices`, `commit` and `disk` (bytes).
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

/** What runs can be grouped by. A run with several tags is in the group of each; those without a value are a group too. */
export const groupKeySchema = z.union([z.enum(groupNames), fieldSchema.refine((field) => field.startsWith('option:'))]);
export type GroupKey = z.output<typeof groupKeySchema>;
