import type { DatabaseSync } from 'node:sqlite';
import { estimate } from '../../../core/numeric/estimate.ts';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import {
  summarizeField,
  type FieldSummary,
  summarizeSettings,
} from '../../../core/protocol/pages/runs/field-summary.ts';
import { type FieldValue, type GroupKey, isMeasured } from '../../../core/protocol/pages/runs/run-fields.ts';
import {
  type GroupRequest,
  type KnownField,
  maximumGroups,
  type RunGroup,
  type RunGroups,
} from '../../../core/protocol/pages/runs/run-groups.ts';
import { selectRuns } from './indexed-run.ts';
import { type IndexQuery, toClauses } from './run-query.ts';
import { readValues, selectValues } from './run-values.ts';

/** The fields that pages offer are those of so many runs, the newest ones: looking at all of 10,000 would take a second. */
const consideredRuns = 1000;

/** A run with its values of the requested fields. */
interface ValuedRun {
  row: RunRow;
  values: readonly (FieldValue | null)[];
}

export function readGroups(database: DatabaseSync, { query, by, fields }: GroupRequest): RunGroups {
  const { where, parameters } = toClauses(query);
  const rows = selectRuns(database, `${where} ORDER BY created_at DESC, folder`, parameters);
  const isOption = by.startsWith('option:') || by === 'devices' || by === 'commit';
  const asked = isOption ? [...fields, by] : fields;
  const values = selectValues(database, asked, where, parameters);
  const members = new Map<FieldValue | null, ValuedRun[]>();
  for (const row of rows) {
    const run = { row, values: values.get(row.folder) ?? [] };
    for (const value of isOption ? [run.values[fields.length] ?? null] : valuesOf(row, by)) {
      const group = members.get(value);
      if (group === undefined) members.set(value, [run]);
      else group.push(run);
    }
  }
  const groups = [...members].map(([value, runs]) => groupOf(value, runs, { by, fields }));
  const sorted = sortGroups(groups, fields, query.sort ?? { by: 'created', isDescending: true });
  return { groups: sorted.slice(0, maximumGroups), total: groups.length };
}

/** What a run has of something that each row knows. */
function valuesOf(row: RunRow, by: GroupKey): (FieldValue | null)[] {
  if (by === 'tag') return row.tags.length === 0 ? [null] : row.tags;
  if (by === 'sweep') return [row.sweep?.id ?? null];
  return [row[by as 'project' | 'strategy' | 'task' | 'status' | 'members']];
}

function groupOf(
  value: FieldValue | null,
  runs: readonly ValuedRun[],
  { by, fields }: Pick<GroupRequest, 'by' | 'fields'>,
): RunGroup {
  const [{ row: newest }] = runs;
  const finished = runs.filter(({ row }) => row.status === 'finished');
  return {
    value,
    label: by === 'sweep' ? (newest.sweep?.name ?? '') : String(value ?? ''),
    runs: runs.length,
    active: runs.filter(({ row }) => row.status === 'running' || row.status === 'created').length,
    finished: finished.length,
    best: bestOf(finished),
    duration: estimate(finished.map(({ row }) => row.trainedSeconds)),
    members: summarizeSettings(runs.map(({ row }) => row.members)),
    newest: newest.createdAt,
    values: summariesOf(fields, runs),
  };
}

/** Each field over runs: of results only those of runs that have finished. */
function summariesOf(fields: readonly string[], runs: readonly ValuedRun[]): FieldSummary[] {
  return fields.map((field, index) => {
    const counted = isMeasured(field) ? runs.filter(({ row }) => row.status === 'finished') : runs;
    return summarizeField(
      field,
      counted.map(({ values }) => values[index] ?? null),
    );
  });
}

/** The fields of the runs of a sweep, as of any group. */
export function summarizeRuns(
  database: DatabaseSync,
  fields: readonly string[],
  rows: readonly RunRow[],
): FieldSummary[] {
  const values = readValues(
    database,
    fields,
    rows.map(({ folder }) => folder),
  );
  return summariesOf(
    fields,
    rows.map((row) => ({ row, values: values.get(row.folder) ?? [] })),
  );
}

function bestOf(finished: readonly ValuedRun[]): RunGroup['best'] {
  const values = finished.flatMap(({ row }) => (row.best === null ? [] : [row.best]));
  const metrics = new Set(values.map(({ metric }) => metric));
  const [metric] = metrics;
  if (metric === undefined) return null;
  if (metrics.size > 1) return 'mixed';
  const finite = values.filter(({ value }) => Number.isFinite(value));
  return finite.length === 0 ? null : { metric, ...estimate(finite.map(({ value }) => value)) };
}

/** Groups without a value are last in both directions. */
function sortGroups(
  groups: readonly RunGroup[],
  fields: readonly string[],
  { by, isDescending }: NonNullable<GroupRequest['query']['sort']>,
): RunGroup[] {
  const keyed = groups.map((group) => ({ group, key: keyOf(group, fields, by) }));
  const sign = isDescending ? -1 : 1;
  const compare = (a: FieldValue, b: FieldValue): number =>
    typeof a === 'number' && typeof b === 'number'
      ? a - b
      : String(a).localeCompare(String(b), 'en', { numeric: true, sensitivity: 'base' });
  return keyed
    .toSorted((a, b) => {
      if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
      return sign * compare(a.key, b.key);
    })
    .map(({ group }) => group);
}

function keyOf(group: RunGroup, fields: readonly string[], by: string): FieldValue | null {
  switch (by) {
    case 'created':
      return group.newest;
    case 'best':
      return group.best === null || group.best === 'mixed' ? null : finite(group.best.mean);
    case 'duration':
      return finite(group.duration.mean);
    case 'members':
      return middleOf(group.members);
    case 'status':
      return group.active;
    default:
      return fields.includes(by) ? middleOf(group.values[fields.indexOf(by)]) : group.value;
  }
}

function middleOf(summary: FieldSummary): FieldValue | null {
  if (summary.kind === 'estimate') return finite(summary.mean);
  if (summary.kind === 'same') return summary.value;
  return summary.kind === 'several' ? (summary.range?.[0] ?? null) : null;
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** The fields that the newest runs of a query have, and whether they differ in them. */
export function readKnownFields(database: DatabaseSync, query: IndexQuery): KnownField[] {
  const { where, order, parameters } = toClauses({ ...query, sort: undefined, offset: 0, limit: consideredRuns });
  const newest = `(SELECT folder, fields FROM runs ${where} ${order})`;
  const statement = database.prepare(
    `SELECT key, count(DISTINCT value) > 1 OR count(*) < (SELECT count(*) FROM ${newest}) AS differs,
      min(type IN ('integer', 'real')) AS isNumber
    FROM ${newest}, json_each(fields) GROUP BY key ORDER BY key`,
  );
  statement.setAllowUnknownNamedParameters(true);
  const known = statement.all(parameters).map(({ key, differs, isNumber }) => ({
    field: String(key),
    differs: Boolean(differs),
    isNumber: Boolean(isNumber),
  }));
  return [...known, { field: 'disk', differs: true, isNumber: true }];
}
