import { z } from 'zod';
import { prunerSchema } from '../../studies/pruners/settings.ts';
import { samplerSchema } from '../../studies/samplers/index.ts';
import { searchSpaceSchema } from '../../studies/space/schema.ts';
import { assignmentSchema, directionSchema } from '../../studies/trial.ts';
import { runIdSchema } from '../run/record.ts';

/**
 * `study.json`: what a study searches, and how. It does not change after the study was created; what happens stands in
 * `trials.jsonl`.
 */

/** What a study minimizes or maximizes. */
export const objectiveSchema = z.strictObject({
  /** A metric of the validation split without its prefix: `nll` for `val/ens_nll`. */
  metric: z.string().regex(/^[A-Za-z]\w*$/, 'a metric is named by letters, digits and "_", such as nll'),
  /** `ensemble`: the metric of the ensemble; `mean-member`: the mean of the members' own metrics. */
  kind: z.enum(['ensemble', 'mean-member']),
  direction: directionSchema,
});
export type Objective = z.output<typeof objectiveSchema>;

/** What decides how a study searches. */
const searchSchema = z.strictObject({
  space: searchSpaceSchema,
  sampler: samplerSchema,
  pruner: prunerSchema,
  /** What the steps of a pruner with rungs count: epochs of a trial, or its members. */
  resource: z.enum(['epochs', 'members']),
  objectives: z.array(objectiveSchema).min(1).max(4),
  /** Which evaluation of a run counts: each objective's best, or the last. */
  evaluation: z.enum(['best', 'last']),
  /** Changes to the project's defaults in all trials, nested as in the configuration. */
  overrides: z.record(z.string(), z.unknown()),
  /**
   * Options that make the splits of the data, by path: `{ "data.folds": 5, "data.fold": 0 }`. Each trial runs with
   * each. Empty: one split.
   */
  splits: z.array(assignmentSchema).max(1000),
  /** Number of base seeds with which each trial runs. */
  seeds: z.int().min(1).max(1000),
  /**
   * Trials that are under way at a time. It belongs to the study, and not to the machine: the suggestion of trial n
   * knows the results of all trials up to n - parallel, and no others.
   */
  parallel: z.int().min(1).max(256),
  /**
   * Trials that train in one process, as one computation where their models are alike. They begin together, so that
   * none of them knows the results of another. `parallel` is a multiple of it.
   */
  trialsPerWorker: z.int().min(1).max(64).default(1),
  /** The seed of the sampler. */
  seed: z.int().min(0).max(0xffffffff),
  /** A trial replaces the best one if it is better by this much. */
  minimumImprovement: z.number().min(0),
});

export const studySchema = searchSchema.extend({
  format: z.literal(1),
  id: runIdSchema,
  name: z.string().min(1),
  project: z.strictObject({ name: z.string(), folder: z.string() }),
  task: z.string(),
  createdAt: z.iso.datetime(),
});
export type Study = z.output<typeof studySchema>;

/** A request to create a study. Without a space it is the project's own `search`. */
export const studyRequestSchema = searchSchema
  .partial()
  .required({ objectives: true })
  .extend({
    projectFolder: z.string().min(1),
    name: z.string().min(1).nullable(),
    /** Number of trials. */
    trials: z.int().min(1).max(1_000_000),
  });
export type StudyRequest = z.output<typeof studyRequestSchema>;
export type StudyRequestInput = z.input<typeof studyRequestSchema>;
