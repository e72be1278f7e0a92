import { z } from 'zod';
import { realNumber } from '../protocol/wire/numbers.ts';
import { parameterValueSchema } from './space/domain.ts';

/**
 * `running` trials have no result yet; `paused` ones wait for their next rung; `pruned` ones were stopped early;
 * `failed` ones ended with an error or were killed, and are never scored.
 */
export const trialStateSchema = z.enum(['running', 'paused', 'complete', 'pruned', 'failed']);
export type TrialState = z.output<typeof trialStateSchema>;

/** A value that a trial reported on its way: at an epoch, or for a split of the data. */
const reportSchema = z.strictObject({ step: z.int().min(0), value: realNumber });

/** A value for each parameter that took part, by path. */
export const assignmentSchema = z.record(z.string(), parameterValueSchema);

/** One configuration of a study, with what came of it. */
export const trialSchema = z.object({
  /** The place in the order of suggestions, counted from 0. */
  number: z.int().min(0),
  state: trialStateSchema,
  values: assignmentSchema,
  /** One value for each objective, the mean over splits and seeds; null unless the trial is complete. */
  objectives: z.array(realNumber).nullable(),
  reports: z.array(reportSchema),
});
export type Trial = z.output<typeof trialSchema>;
export type Report = z.output<typeof reportSchema>;

export const directionSchema = z.enum(['minimize', 'maximize']);
export type Direction = z.output<typeof directionSchema>;
/**
 * Losses of a complete trial, one for each objective: smaller is better, whatever the direction; NaN counts as the
 * worst.
 */
export function lossesOf({ objectives }: Trial, directions: readonly Direction[]): number[] {
  return directions.map((direction, index) => lossOf(objectives?.[index] ?? NaN, direction));
}

/** A value as a loss. */
export function lossOf(value: number, direction: Direction): number {
  if (Number.isNaN(value)) return Infinity;
  return direction === 'minimize' ? value : -value;
}
