import { z } from 'zod';
import { realNumber } from '../../../core/protocol/wire/numbers.ts';
import { runStatusSchema } from '../../../core/protocol/run/record.ts';
import type { RunStatus } from '../../../core/protocol/run/record.ts';

const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.issues.push({ code: 'custom', message: 'not JSON', input: text });
    return z.NEVER;
  }
});

const indexedRunSchema = z.object({
  id: z.string(),
  folder: z.string(),
  name: z.string(),
  project: z.string(),
  projectFolder: z.string(),
  task: z.string(),
  strategy: z.string(),
  members: z.number(),
  status: runStatusSchema,
  createdAt: z.string(),
  endedAt: z.string().nullable(),
  bestMetric: z.string().nullable(),
  bestValue: realNumber.nullable(),
  bestEpoch: z.number().nullable(),
  error: z.string().nullable(),
  /** Names its last metrics that are NaN or infinite; null if there are none. */
  notFinite: z.string().nullable(),
  /** The run's configuration in the format of the version that wrote it. */
  config: json.pipe(z.unknown()),
  /** The id of the run that it is a fork of; null for others. */
  origin: z.string().nullable(),
  tags: json.pipe(z.array(z.string())),
  note: z.string(),
  isArchived: z.number().transform(Boolean),
});

/** A run in lists. */
export type IndexedRun = z.output<typeof indexedRunSchema>;

const rowSchema = indexedRunSchema.omit({ config: true });
/** A run in lists, without its configuration. */
export type IndexRow = z.output<typeof rowSchema>;

const select = (columns: string): string => `
  SELECT id, folder, name, project, project_folder AS projectFolder, task, strategy, members, status, created_at AS createdAt, ended_at AS endedAt,
    best_metric AS bestMetric, best_value AS bestValue, best_epoch AS bestEpoch, error,
    not_finite AS notFinite, origin, tags, note, is_archived AS isArchived${columns} FROM runs`;

export const SELECT_ROWS = select('');
export const SELECT_RUNS = select(', config');

const SORT_COLUMNS = {
  createdAt: 'created_at',
  name: 'name',
  project: 'project',
  status: 'status',
  members: 'members',
  bestValue: 'best_value',
} as const;

export interface RunQuery {
  status?: readonly RunStatus[] | undefined;
  project?: string | undefined;
  projectFolder?: string | undefined;
  /** Only forks of the run with this id. */
  origin?: string | undefined;
  /** Part of the id, name, project or folder; upper and lower case are equal. */
  search?: string | undefined;
  limit?: number | undefined;
  /** Default: the newest first. */
  sort?: { by: keyof typeof SORT_COLUMNS; descending: boolean } | undefined;
}

export type Parameters = Record<string, string | number>;

/** The clauses after {@link SELECT_RUNS} for a query, with their named parameters. */
export function toClauses(query: RunQuery): { clauses: string; parameters: Parameters } {
  const conditions: string[] = [];
  const parameters: Parameters = { limit: query.limit ?? -1 };
  if (query.status !== undefined) {
    conditions.push('status IN (SELECT value FROM json_each(:status))');
    parameters.status = JSON.stringify(query.status);
  }
  if (query.project !== undefined) {
    conditions.push('project = :project');
    parameters.project = query.project;
  }
  if (query.projectFolder !== undefined) {
    conditions.push('project_folder = :projectFolder');
    parameters.projectFolder = query.projectFolder;
  }
  if (query.origin !== undefined) {
    conditions.push('origin = :origin');
    parameters.origin = query.origin;
  }
  if (query.search !== undefined) {
    conditions.push("instr(lower(id || ' ' || name || ' ' || project || ' ' || folder), lower(:search)) > 0");
    parameters.search = query.search;
  }
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const sort = query.sort ?? { by: 'createdAt', descending: true };
  const order = `${SORT_COLUMNS[sort.by]} ${sort.descending ? 'DESC' : 'ASC'} NULLS LAST, folder`;
  return { clauses: `${where} ORDER BY ${order} LIMIT :limit`, parameters };
}

/** Rows of {@link SELECT_RUNS} as runs. */
export function parseRows(rows: unknown): IndexedRun[] {
  return parse(z.array(indexedRunSchema), rows).map(restoreNaN);
}

/** Rows of {@link SELECT_ROWS}. */
export function parseIndexRows(rows: unknown): IndexRow[] {
  return parse(z.array(rowSchema), rows).map(restoreNaN);
}

function parse<T>(schema: z.ZodType<T>, rows: unknown): T {
  const parsed = schema.safeParse(rows);
  if (parsed.success) return parsed.data;
  throw new Error(
    `The index of runs is damaged: ${z.prettifyError(parsed.error)}\n` +
      "Remove index.sqlite from Tutti's home; the next start makes it again from the run folders.",
    { cause: parsed.error },
  );
}

/** SQLite stores NaN as NULL, so a best metric without a value has the value NaN. */
function restoreNaN<Row extends IndexRow>(run: Row): Row {
  return run.bestMetric !== null && run.bestValue === null ? { ...run, bestValue: Number.NaN } : run;
}

export function ambiguityError(text: string, candidates: IndexedRun[]): Error {
  return new Error(
    `"${text}" matches ${candidates.length} runs:\n${describeRuns(candidates)}\nGive the id or the folder of one of them.`,
  );
}

/** One line per run, with the values that distinguish runs of the same name. */
export function describeRuns(runs: IndexedRun[]): string {
  return runs.map((run) => `  ${run.id}  ${run.name}  ${run.status}  ${run.createdAt}  ${run.folder}`).join('\n');
}
