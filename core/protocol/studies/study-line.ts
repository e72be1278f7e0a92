import { z } from 'zod';
import { assignmentSchema, trialSchema } from '../../studies/trial.ts';
import { realNumber } from '../wire/numbers.ts';

/**
 * A line of `trials.jsonl`: what happened in a study, in order. Lines are added and never changed. A piece of work is a
 * trial as far as it goes in one go: a whole trial, or up to its next rung. The pieces are numbered from 0 in the order
 * in which they were chosen.
 */

/** One of a trial's runs: a split of the data and a base seed, both counted from 0. */
export const partSchema = z.strictObject({ split: z.int().min(0), seed: z.int().min(0) });
export type Part = z.output<typeof partSchema>;

/** A metric of one part, of the ensemble and as the mean of its members. */
export const scoreSchema = z.strictObject({ metric: z.string(), ensemble: realNumber, meanMember: realNumber });
export type Score = z.output<typeof scoreSchema>;

const work = z.int().min(0);
/**
 * The pieces of work that begin together: the first one of them, and how many pieces they know the results of. Absent:
 * it begins alone.
 */
const group = z.strictObject({ first: work, known: z.int().min(0) }).optional();
const number = z.int().min(0);
const time = z.iso.datetime();
/** The process that does it; its lock tells whether it lives. */
const worker = z.string();

export const studyLineSchema = z.discriminatedUnion('type', [
  /** A trial begins, or an enqueued one. `until` is its first rung; null: to its end. */
  z.strictObject({
    type: z.literal('begin'),
    work,
    number,
    values: assignmentSchema,
    isEnqueued: z.boolean(),
    until: z.int().min(1).nullable(),
    group,
    worker,
    time,
  }),
  /** A paused trial goes on to its next rung. */
  z.strictObject({ type: z.literal('resume'), work, number, until: z.int().min(1), group, worker, time }),
  /** A process takes over a piece of work from one that is gone, or that gave it back. */
  z.strictObject({ type: z.literal('claim'), work, worker, time }),
  /** A process gives a piece of work back, because it stops. */
  z.strictObject({ type: z.literal('release'), work, worker, time }),
  /** A run of a trial begins. `ranks` are the trial's members in it; null: all. */
  z.strictObject({
    type: z.literal('run'),
    number,
    part: partSchema,
    run: z.string(),
    ranks: z.array(z.int().min(0)).nullable(),
    devices: z.array(z.string()),
    time,
  }),
  /** The first objective on the way: the mean over the trial's parts so far. */
  z.strictObject({ type: z.literal('report'), number, step: z.int().min(0), value: realNumber, time }),
  /** A run of a trial has ended well. */
  z.strictObject({ type: z.literal('scores'), number, part: partSchema, scores: z.array(scoreSchema), time }),
  /** A piece of work has ended. A trial that failed has an error and no objectives. */
  z.strictObject({
    type: z.literal('end'),
    work,
    number,
    state: z.enum(['paused', 'complete', 'pruned', 'failed']),
    objectives: z.array(realNumber).nullable(),
    error: z.string().nullable(),
    time,
  }),
  /** A trial of another program. It counts as one more piece of work, which has ended. */
  z.strictObject({ type: z.literal('imported'), work, trial: trialSchema, time }),
  /** Values to try next. */
  z.strictObject({ type: z.literal('enqueued'), values: assignmentSchema, time }),
  /** The number of trials from now on. */
  z.strictObject({ type: z.literal('trials'), count: z.int().min(1), time }),
  /** All processes that work on the study stop. */
  z.strictObject({ type: z.literal('stop'), time }),
]);
export type StudyLine = z.output<typeof studyLineSchema>;
