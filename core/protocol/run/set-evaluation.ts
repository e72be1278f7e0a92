import { z } from 'zod';
import { blasSchema } from '../machine/blas.ts';
import { type SetEvaluationResult, setRequestSchema } from '../pages/rpc.ts';
import { runConfigSchema } from './config.ts';

/** What a process needs to build a run's model again, and to find its checkpoints. */
export const runSourceSchema = z.strictObject({
  runFolder: z.string(),
  projectFolder: z.string(),
  task: z.string(),
  /** How the project's source differs from that of the run, as a sentence for the user; null where it is known to be the same. */
  sourceChange: z.string().nullable(),
  dataFolders: z.strictObject({ lookup: z.string().nullable(), cache: z.string() }),
  config: runConfigSchema,
});
export type RunSource = z.output<typeof runSourceSchema>;

/** What the process that evaluates a set of checkpoints (`workers/entries/evaluate.ts`) is asked. */
export const setEvaluationTaskSchema = runSourceSchema.extend({
  ...setRequestSchema.shape,
  blas: blasSchema.nullable(),
});
export type SetEvaluationTask = z.output<typeof setEvaluationTaskSchema>;

export type SetEvaluationReply =
  { type: 'evaluated'; result: SetEvaluationResult } | { type: 'failed'; message: string; stack: string };
