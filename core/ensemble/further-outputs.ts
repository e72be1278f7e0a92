import { z } from 'zod';
import { taskKinds } from '../metrics/registry/task-kinds.ts';

/** Names of outputs are parts of metrics' names, of tensors', and of exported code. */
export const outputNameSchema = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]*$/, 'must be named with letters, digits, "_" and "-"');

/** A further output of a run's models, after those of its task: what predictions need to know of it. */
export const furtherOutputSchema = z.strictObject({
  name: outputNameSchema,
  task: z.enum(taskKinds),
  /** In the order of the classes; null where the project gives none. */
  classNames: z.array(z.string()).nullable(),
  /** Levels of the task `quantile-regression`; null for other tasks. */
  quantiles: z.array(z.number()).nullable(),
});
export type FurtherOutput = z.output<typeof furtherOutputSchema>;
