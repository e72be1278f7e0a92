import type { DatabaseSync } from 'node:sqlite';
import { folderKey } from '../../../core/node/same-folder.ts';
import { type RunQuery, sortKeys, type SortKey } from '../../../core/protocol/pages/run-list.ts';
import type { FieldValue, GroupKey } from '../../../core/protocol/pages/runs/run-fields.ts';
import type { Parameters } from './indexed-run.ts';
import { z } from 'zod';
import { realNumber } from '../../../core/protocol/wire/numbers.ts';

/** Part of a query, with the number of rows of its answer; without a limit: all. */
export type IndexQuery = Omit<RunQuery, 'limit'> & { limit?: number | undefined };

/** What the runs are sorted by. The duration is in seconds; a run that trains has none yet. */
const SORT_VALUES: Record<(typeof sortKeys)[number], string> = {
  created: 'created_at',
  name: 'name COLLATE NOCASE',
  project: 'project COLLATE NOCASE',
  status: 'status',
  members: 'members',
  best: 'best_value',
  strategy: 'strategy',
  task: 'task',
  duration: 'iif(ended_at IS NULL, NULL, trained_seconds)',
};

interface Clauses {
  where: string;
  /** The order alone, without a part of the rows. */
  sorting: string;
  order: string;
  parameters: Parameters;
}

/** The clauses of a query, with their named parameters. */
export function toClauses(query: IndexQuery): Clauses {
  const { conditions, parameters } = conditionsOf(query);
  for (const [index, word] of wordsOf(query.search ?? '').entries()) {
    conditions.push(`instr(record_text || char(10) || notes_text, :word${index}) > 0`);
    parameters[`word${index}`] = word;
  }
  const { by, isDescending } = query.sort ?? { by: 'created', isDescending: true };
  const direction = isDescending ? 'DESC' : 'ASC';
  const sorting = `ORDER BY ${sortValue(by)} ${direction} NULLS LAST, created_at DESC, folder`;
  return {
    where: conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '',
    sorting,
    order: `${sorting} LIMIT :limit OFFSET :offset`,
    parameters: { ...parameters, limit: query.limit ?? -1, offset: query.offset ?? 0 },
  };
}

function conditionsOf(query: IndexQuery): { conditions: string[]; parameters: Parameters } {
  const possible: [value: string | number | undefined, name: string, condition: string][] = [
    [listOf(query.ids), 'ids', 'id IN (SELECT value FROM json_each(:ids))'],
    [listOf(query.sweeps), 'sweeps', 'sweep_id IN (SELECT value FROM json_each(:sweeps))'],
    [listOf(query.statuses), 'statuses', 'status IN (SELECT value FROM json_each(:statuses))'],
    [query.project, 'project', 'project = :project'],
    [query.projectFolder && folderKey(query.projectFolder), 'projectKey', 'project_key = :projectKey'],
    [query.origin, 'origin', 'origin = :origin'],
    [query.tag, 'tag', ':tag IN (SELECT value FROM json_each(tags))'],
    [query.isArchived === undefined ? undefined : Number(query.isArchived), 'isArchived', 'is_archived = :isArchived'],
  ];
  const given = possible.flatMap(([value, name, condition]) =>
    value === undefined ? [] : [{ value, name, condition }],
  );
  const { group } = query;
  return {
    conditions: [...given.map(({ condition }) => condition), ...(group === undefined ? [] : [groupCondition(group)])],
    parameters: {
      ...Object.fromEntries(given.map(({ name, value }) => [name, value])),
      ...(group === undefined || group.value === null ? {} : { group: group.value }),
    },
  };
}

/** Text sorts without regard to case, numbers by their size. */
function sortValue(by: SortKey): string {
  const column = sortKeys.find((key) => key === by);
  return column === undefined ? `${sortExpression(by)} COLLATE NOCASE` : SORT_VALUES[column];
}

/** What runs are grouped by as an expression of SQL; of tags the list of a run's. */
export function groupExpression(by: GroupKey): string {
  if (by.startsWith('option:') || by === 'devices' || by === 'commit') return fieldExpression(by);
  const columns: Partial<Record<GroupKey, string>> = { sweep: 'sweep_id', tag: 'tags' };
  return columns[by] ?? by;
}

/** The condition that a run belongs to a group. */
function groupCondition({ by, value }: NonNullable<RunQuery['group']>): string {
  if (by === 'tag') return value === null ? "tags = '[]'" : ':group IN (SELECT value FROM json_each(tags))';
  return value === null ? `${groupExpression(by)} IS NULL` : `${groupExpression(by)} = :group`;
}

function listOf(values: readonly string[] | undefined): string | undefined {
  return values === undefined ? undefined : JSON.stringify(values);
}

/** The words of a search. SQLite's `lower` knows ASCII only, so the columns and the words are lowered here. */
function wordsOf(search: string): string[] {
  return search.toLowerCase().split(/\s+/).filter(Boolean);
}

const valueSchema = z.union([realNumber, z.string()]).nullable();

/**
 * A field of runs as an expression of SQL. Names cannot end its quotes: the schema of fields allows neither `"` nor
 * `\`.
 */
export function fieldExpression(field: string): string {
  if (field === 'disk') return 'disk_bytes';
  return `(fields ->> '$."${field.replaceAll("'", "''")}"')`;
}

/**
 * The same for sorting: NaN and infinities, which are stored as texts, come last in both directions, as missing values
 * do.
 */
function sortExpression(field: string): string {
  const value = fieldExpression(field);
  return `iif(${value} IN ('NaN', 'Infinity', '-Infinity'), NULL, ${value})`;
}

/** A value as SQLite returned it. */
export function fieldValue(stored: unknown): FieldValue | null {
  if (typeof stored === 'number') return stored;
  return valueSchema.parse(stored ?? null);
}

/** The values of some fields of runs, by their folders. */
export function readValues(
  database: DatabaseSync,
  fields: readonly string[],
  folders: readonly string[],
): Map<string, (FieldValue | null)[]> {
  if (fields.length === 0 || folders.length === 0) return new Map();
  const columns = fields.map((field, index) => `, ${fieldExpression(field)} AS v${index}`).join('');
  const rows = database
    .prepare(`SELECT folder${columns} FROM runs WHERE folder IN (SELECT value FROM json_each(?))`)
    .all(JSON.stringify(folders));
  return new Map(rows.map((row) => [String(row.folder), fields.map((_, index) => fieldValue(row[`v${index}`]))]));
}
