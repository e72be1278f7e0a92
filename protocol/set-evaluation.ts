import { z } from 'zod';
import { type SetEvaluationResult, setRequestSchema } from './rpc.ts';
import { runConfigSchema } from './run-config.ts';

/** What the process that evaluates a set of checkpoints (`workers/evaluate.ts`) is asked. */
export const setEvaluationTaskSchema = setRequestSchema.extend({
  runFolder: z.string(),
  projectFolder: z.string(),
  dataFolders: z.strictObject({ lookup: z.string().nullable(), cache: z.string() }),
  config: runConfigSchema,
});
export type SetEvaluationTask = z.output<typeof setEvaluationTaskSchema>;

export type SetEvaluationReply =
  { type: 'evaluated'; result: SetEvaluationResult } | { type: 'failed'; message: string; stack: string };
