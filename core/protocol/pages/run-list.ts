import { z } from 'zod';
import type { Estimate } from '../../numeric/estimate.ts';
import { runStatusSchema } from '../run/record.ts';
import { sweepSchema } from '../run/sweep/sweep.ts';
import { realNumber } from '../wire/numbers.ts';
import { fieldSchema, type FieldSummary, type FieldValue, groupKeySchema, maximumFields } from './runs/run-fields.ts';

const bestValueSchema = z.strictObject({ metric: z.string(), value: realNumber, epoch: z.int() });
export type BestValue = z.output<typeof bestValueSchema>;

/** A run in lists: a row of the index, of the table on the pages, and a line of `tutti runs --json`. */
export const runRowSchema = z.strictObject({
  id: z.string(),
  folder: z.string(),
  name: z.string(),
  project: z.string(),
  projectFolder: z.string(),
  task: z.string(),
  strategy: z.string(),
  status: runStatusSchema,
  members: z.int().describe('models that answer together: 1 where all ranks train one model').brand<'members'>(),
  /** While the run trains, the best value so far. */
  best: bestValueSchema.nullable(),
  createdAt: z.string(),
  endedAt: z.string().nullable(),
  /** How long it has trained, in seconds: the sum of its attempts that have ended, without the time between them. */
  trainedSeconds: z.number(),
  /** When its last attempt began. */
  startedAt: z.string(),
  error: z.string().nullable(),
  /** Names its last metrics that are NaN or infinite; null if there are none. */
  notFinite: z.string().nullable(),
  /** The id of the run that it is a fork of; null for others. */
  origin: z.string().nullable(),
  /** Its place in a sweep over seeds; null for others. */
  sweep: sweepSchema.nullable(),
  tags: z.array(z.string()),
  note: z.string(),
  isArchived: z.boolean(),
});
export type RunRow = z.output<typeof runRowSchema>;

export const sortKeys = [
  'created',
  'name',
  'project',
  'status',
  'members',
  'best',
  'duration',
  'strategy',
  'task',
] as const;
/** A column of the list, or a field of runs. */
export const sortKeySchema = z.union([z.enum(sortKeys), fieldSchema]);
export type SortKey = z.output<typeof sortKeySchema>;

/** Number of runs that one answer may hold. */
export const maximumRunRows = 500;

/** Which runs a list shows, and in which order. What is absent matches all runs. */
export const runQuerySchema = z.strictObject({
  ids: z.array(z.string()).optional(),
  /**
   * Words, separated by spaces, that id, name, project, strategy, task, status, folder, error, tags or note contain, in
   * any case of letters.
   */
  search: z.string().optional(),
  statuses: z.array(runStatusSchema).optional(),
  project: z.string().optional(),
  projectFolder: z.string().optional(),
  tag: z.string().optional(),
  /** Only forks of the run with this id. */
  origin: z.string().optional(),
  /** Only runs of the sweeps with these ids. */
  sweeps: z.array(z.string()).optional(),
  /** Whether a sweep is one row: that of its run which comes first in the order. */
  isGrouped: z.boolean().optional(),
  isArchived: z.boolean().optional(),
  /** Default: the newest first. Equal ones are ordered from new to old, and runs without a value are last. */
  sort: z.strictObject({ by: sortKeySchema, isDescending: z.boolean() }).optional(),
  /** Only runs with this value of what they are grouped by; null: those without one. */
  group: z.strictObject({ by: groupKeySchema, value: z.union([z.number(), z.string()]).nullable() }).optional(),
  /** Further values that the answer has for each of its rows. */
  fields: z.array(fieldSchema).max(maximumFields).optional(),
  offset: z.int().min(0).optional(),
  limit: z.int().min(0).max(maximumRunRows).optional(),
});
export type RunQuery = z.output<typeof runQuerySchema>;

/** A sweep in a list of runs: all of its runs that exist, also those that the list leaves out. */
export interface SweepGroup {
  id: string;
  name: string;
  of: number;
  finished: number;
  status: RunRow['status'];
  /** Over the finished runs whose best value is finite; null if there is none. */
  best: ({ metric: string } & Estimate) | null;
  /** The values, in the order of the query's fields. */
  values?: FieldSummary[];
}

/** A part of a list of runs. */
export interface RunPage {
  rows: RunRow[];
  /** Number of runs that match, on all pages; where a sweep is one row, of rows. */
  total: number;
  /** The sweeps of these rows, in a list in which a sweep is one row. */
  sweeps?: SweepGroup[];
  /** If the query names fields: the values of each row, in their order; null where the run has none. */
  values?: (FieldValue | null)[][];
}

/** A run that is about to train or trains. */
export type ActiveRun = Pick<RunRow, 'id' | 'name' | 'project' | 'status'>;

/** The list of runs as a whole. */
export interface RunOverview {
  total: number;
  /** The newest first. */
  active: ActiveRun[];
  projects: string[];
  tags: string[];
}

/** What changed in the list of runs. */
export interface RunListChange {
  /** New and changed runs. */
  changed: RunRow[];
  removed: string[];
  /** Whether more changed than `changed` and `removed` name. */
  isPartial: boolean;
  /** Null if it has not changed. */
  overview: RunOverview | null;
}
