import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { type RunRow, runRowSchema } from '../../../core/protocol/pages/run-list.ts';
import { sweepSchema } from '../../../core/protocol/run/sweep/sweep.ts';
import { realNumber } from '../../../core/protocol/wire/numbers.ts';
import { hasOwnEntry } from '../../../core/node/own-folders.ts';

const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.issues.push({ code: 'custom', message: 'not JSON', input: text });
    return z.NEVER;
  }
});

/** A row of the table as SQLite returns it: {@link runRowSchema} without objects, lists and booleans. */
const storedRunSchema = runRowSchema
  .omit({ best: true })
  .extend({
    bestMetric: z.string().nullable(),
    bestValue: realNumber.nullable(),
    bestEpoch: z.number().nullable(),
    sweep: json.pipe(sweepSchema).nullable(),
    tags: json.pipe(z.array(z.string())),
    isArchived: z.number().transform(Boolean),
  })
  .transform(({ bestMetric, bestValue, bestEpoch, ...run }): RunRow => {
    if (bestMetric === null || bestEpoch === null) return { ...run, best: null };
    // SQLite stores NaN as NULL.
    return { ...run, best: { metric: bestMetric, value: bestValue ?? Number.NaN, epoch: bestEpoch } };
  });
const storedRunsSchema = z.array(storedRunSchema);

const SELECT_RUNS = `
  SELECT id, folder, name, project, project_folder AS projectFolder, task, strategy, members, status, created_at AS createdAt, ended_at AS endedAt,
    trained_seconds AS trainedSeconds, started_at AS startedAt,
    best_metric AS bestMetric, best_value AS bestValue, best_epoch AS bestEpoch, error,
    not_finite AS notFinite, origin, sweep, tags, note, is_archived AS isArchived FROM runs`;

export type Parameters = Record<string, string | number>;

/** The runs of `SELECT ... FROM runs` with these clauses. */
export function selectRuns(database: DatabaseSync, clauses: string, parameters: Parameters): RunRow[] {
  const statement = database.prepare(`${SELECT_RUNS} ${clauses}`);
  statement.setAllowUnknownNamedParameters(true);
  const parsed = storedRunsSchema.safeParse(statement.all(parameters));
  if (parsed.success) return parsed.data;
  throw new Error(
    `The index of runs is damaged: ${z.prettifyError(parsed.error)}\n` +
      "Remove index.sqlite from Tutti's home; the next start makes it again from the run folders.",
    { cause: parsed.error },
  );
}

/** What a user's text means, first what is spelt exactly so. `last` stands for the newest run that is not archived. */
const meanings = [
  'WHERE folder = :folder',
  'WHERE id = :text',
  'WHERE name = :text',
  "WHERE lower(:text) = 'last' AND is_archived = 0 ORDER BY created_at DESC, id DESC LIMIT 1",
  'WHERE lower(id) = lower(:text) OR lower(name) = lower(:text)',
  `WHERE substr(lower(id), 1, length(:text)) = lower(:text)
    OR substr(lower(name), 1, length(:text)) = lower(:text)`,
];

/**
 * The runs that a text means: by the first way to name runs with which it names any. A failed run that has left no
 * checkpoints is not meant where others are.
 */
export function meantRuns(database: DatabaseSync, text: string, folder: string): RunRow[] {
  for (const meaning of meanings) {
    const runs = selectRuns(database, meaning, { text, folder });
    if (runs.length === 0) continue;
    const useful =
      runs.length === 1 ? runs : runs.filter((run) => run.status !== 'failed' || hasCheckpoints(run.folder));
    return useful.length === 0 ? runs : useful;
  }
  return [];
}

function hasCheckpoints(folder: string): boolean {
  return hasOwnEntry(folder, 'checkpoints', /\.safetensors$/);
}

export function ambiguityError(text: string, candidates: RunRow[]): Error {
  return new Error(
    `"${text}" matches ${candidates.length} runs:\n${describeRuns(candidates)}\nGive the id or ` +
      'the folder of one of them.',
  );
}

/** A sweep was named where one run is needed. */
export function sweepError(sweep: string, { id }: RunRow): Error {
  return new Error(
    `${sweep} is a sweep of several runs, and this needs one of them: name it by its id, such as ${id}. ` +
      'The commands resume, show, compare and calibrate take a whole sweep.',
  );
}

/** One line per run, with the values that distinguish runs of the same name. */
export function describeRuns(runs: RunRow[]): string {
  return runs.map((run) => `  ${run.id}  ${run.name}  ${run.status}  ${run.createdAt}  ${run.folder}`).join('\n');
}
