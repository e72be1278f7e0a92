import { z } from 'zod';
import type { ForkPoint } from '../history/fork.ts';
import type { RunConfig } from '../run/config.ts';
import { runRequestSchema } from './project-views.ts';

/** `round-40`, `ensemble-best`, `attempt-1/final`. */
export const forkPointNameSchema = z
  .string()
  .max(300)
  .regex(/^(attempt-\d+\/)?[\w-]+$/);

/** A request to fork a run, or to preview a fork. */
export const forkRequestSchema = runRequestSchema.omit({ projectFolder: true }).extend({
  /** The name of the point at which it begins. */
  point: forkPointNameSchema,
  /** Whether it trains with the project's present code, although that has changed. */
  currentSource: z.boolean().optional(),
});
export type ForkRequest = z.output<typeof forkRequestSchema>;

/** What a fork of a point begins with. */
export interface ForkStart {
  point: ForkPoint;
  /** The name of the run that is forked. */
  name: string;
  project: { name: string; folder: string };
  /** The configuration at the point, with what was changed while the run trained. A fork's changes are on top of it. */
  config: RunConfig;
}
