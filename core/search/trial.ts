import { z } from 'zod';
import { parameterValueSchema } from './space/parameter.ts';

/**
 * `running` trials have no result yet; `paused` ones wait for their next rung; `pruned` ones were stopped early; `failed` ones ended with an
 * error or were killed, and are never scored.
 */
const trialStateSchema = z.enum(['running', 'paused', 'complete', 'pruned', 'failed']);

/** A value that a trial reported on its way: at an epoch, or for a split of the data. */
const reportSchema = z.object({ step: z.int().min(0), value: z.number().or(z.nan()) });

/** One configuration of a study, with what came of it. */
export const trialSchema = z.object({
  /** From 0, in the order in which the trials were suggested. */
  number: z.int().min(0),
  state: trialStateSchema,
  /** The values of the parameters that took part. */
  values: z.record(z.string(), parameterValueSchema),
  /** One value for each objective; null unless the trial is complete. */
  objectives: z.array(z.number()).nullable(),
  reports: z.array(reportSchema),
});
export type Trial = z.infer<typeof trialSchema>;
export type Report = z.infer<typeof reportSchema>;

export const directionSchema = z.enum(['minimize', 'maximize']);
export type Direction = z.infer<typeof directionSchema>;
