import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { estimate } from '../../../core/numeric/estimate.ts';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import {
  type FieldSummary,
  type FieldValue,
  isMeasured,
  summarizeField,
  summarizeSettings,
} from '../../../core/protocol/pages/runs/run-fields.ts';
import {
  type GroupRequest,
  type KnownField,
  maximumGroups,
  type RunGroup,
  type RunGroups,
} from '../../../core/protocol/pages/runs/run-groups.ts';
import { fieldExpression, fieldValue, groupExpression, type IndexQuery, readValues, toClauses } from './run-query.ts';

/**
 * The fields that pages offer are those of so many runs, the newest ones: looking at all of 10,000 would take a second.
 */
const consideredRuns = 1000;

/** What groups need of a run. Reading whole rows of 10,000 runs would take twice as long. */
interface CountedRun {
  status: string;
  createdAt: string;
  trainedSeconds: number;
  members: number;
  best: { metric: string; value: number } | null;
  /** Names the group of a sweep. */
  sweepName: string;
  /** The groups that it belongs to. */
  keys: (FieldValue | null)[];
  values: (FieldValue | null)[];
}

export function readGroups(database: DatabaseSync, { query, by, fields }: GroupRequest): RunGroups {
  const members = new Map<FieldValue | null, CountedRun[]>();
  for (const run of readCounted(database, { query, by, fields })) {
    for (const key of run.keys) {
      const group = members.get(key);
      if (group === undefined) members.set(key, [run]);
      else group.push(run);
    }
  }
  const groups = [...members].map(([value, runs]) => groupOf(value, runs, { by, fields }));
  const sorted = sortGroups(groups, fields, query.sort ?? { by: 'created', isDescending: true });
  return { groups: sorted.slice(0, maximumGroups), total: groups.length };
}

/** The runs of a query, the newest first. */
function readCounted(database: DatabaseSync, { query, by, fields }: GroupRequest): CountedRun[] {
  const { where, parameters } = toClauses(query);
  const columns = fields.map((field, index) => `, ${fieldExpression(field)} AS v${index}`).join('');
  const statement = database.prepare(
    `SELECT status, created_at, trained_seconds, members, best_metric, best_value, sweep ->> '$.name' AS sweep_name,
      ${groupExpression(by)} AS key${columns} FROM runs ${where} ORDER BY created_at DESC, folder`,
  );
  statement.setAllowUnknownNamedParameters(true);
  return statement.all(parameters).map((row) => ({
    status: String(row.status),
    createdAt: String(row.created_at),
    trainedSeconds: Number(row.trained_seconds),
    members: Number(row.members),
    // SQLite stores NaN as NULL.
    best:
      row.best_metric === null
        ? null
        : { metric: String(row.best_metric), value: row.best_value === null ? NaN : Number(row.best_value) },
    sweepName: String(row.sweep_name ?? ''),
    keys: by === 'tag' ? tagsOf(row.key) : [fieldValue(row.key)],
    values: fields.map((_, index) => fieldValue(row[`v${index}`])),
  }));
}

function tagsOf(text: unknown): (string | null)[] {
  const tags = z.array(z.string()).parse(JSON.parse(String(text)));
  return tags.length === 0 ? [null] : tags;
}

function groupOf(
  value: FieldValue | null,
  runs: readonly CountedRun[],
  { by, fields }: Pick<GroupRequest, 'by' | 'fields'>,
): RunGroup {
  const [newest] = runs;
  const finished = runs.filter(({ status }) => status === 'finished');
  return {
    value,
    label: by === 'sweep' ? newest.sweepName : String(value ?? ''),
    runs: runs.length,
    active: runs.filter(({ status }) => status === 'running' || status === 'created').length,
    finished: finished.length,
    best: bestOf(finished),
    duration: estimate(finished.map(({ trainedSeconds }) => trainedSeconds)),
    members: summarizeSettings(runs.map((run) => run.members)),
    newest: newest.createdAt,
    values: summariesOf(fields, runs),
  };
}

/** Each field over runs: of results only those of runs that have finished. */
function summariesOf(
  fields: readonly string[],
  runs: readonly Pick<CountedRun, 'status' | 'values'>[],
): FieldSummary[] {
  return fields.map((field, index) => {
    const counted = isMeasured(field) ? runs.filter(({ status }) => status === 'finished') : runs;
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
    rows.map(({ status, folder }) => ({ status, values: values.get(folder) ?? [] })),
  );
}

function bestOf(finished: readonly CountedRun[]): RunGroup['best'] {
  const values = finished.flatMap(({ best }) => (best === null ? [] : [best]));
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
