import { z } from 'zod';
import { realNumber } from './numbers.ts';
import { runStatusSchema } from './run-record.ts';

/** What the window's list shows of a run. */
export const listedRunSchema = z.strictObject({
  /** What tells runs apart: a copied folder has the id of the original. */
  folder: z.string(),
  id: z.string(),
  name: z.string(),
  project: z.string(),
  status: runStatusSchema,
  members: z.int(),
  /** Best value of the ensemble's metric; null until the run has ended, and where none was evaluated. */
  best: z.strictObject({ metric: z.string(), value: realNumber, epoch: z.int() }).nullable(),
  startedAt: z.iso.datetime(),
  /** Why it failed. */
  error: z.string().nullable(),
});
export type ListedRun = z.output<typeof listedRunSchema>;

/** All runs, the newest first. */
export const runListSchema = z.array(listedRunSchema);
