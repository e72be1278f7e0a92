import { z } from 'zod';
import { assignmentSchema, type Trial, trialSchema } from '../../studies/trial.ts';
import { realNumber } from '../wire/numbers.ts';
import { objectiveSchema, type Study } from '../studies/study.ts';
import { partSchema, scoreSchema } from '../studies/study-line.ts';

/** `running`: a process works on it; `finished`: all its trials have ended; `stopped`: neither. */
const studyStatusSchema = z.enum(['running', 'stopped', 'finished']);
export type StudyStatus = z.output<typeof studyStatusSchema>;

const count = z.int().min(0);

/** A study in lists: a row of the index, and a line of `tutti studies --json`. */
export const studySummarySchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  project: z.string(),
  projectFolder: z.string(),
  status: studyStatusSchema,
  objectives: z.array(objectiveSchema),
  /** How many trials it is to have, and how many are in each state. */
  trials: z.strictObject({
    wanted: count.describe('how many it is to have'),
    running: count,
    paused: count,
    complete: count,
    pruned: count,
    failed: count,
  }),
  /**
   * How many configurations the sampler can suggest; null where there is no end of them. The study ends when all were
   * tried.
   */
  configurations: count.nullable().describe('how many the sampler can suggest, each once; null: without end'),
  /** The best complete trial by the first objective, with the study's minimum improvement; null before the first. */
  best: z
    .strictObject({
      number: count,
      values: assignmentSchema,
      objectives: z.array(realNumber).nullable(),
      standardErrors: z.array(realNumber).nullable(),
    })
    .nullable()
    .describe('the best trial by the first objective, or null'),
  createdAt: z.string(),
  /** Time of the last event. */
  changedAt: z.string(),
  /** Whether this process works on it, so that `stopStudy` ends that work here. */
  isHere: z.boolean().describe('whether this process works on it'),
});
export type StudySummary = z.output<typeof studySummarySchema>;

/** A run of a trial. */
const trialRunSchema = z.strictObject({
  part: partSchema.describe('the split and the base seed, from 0'),
  run: z.string(),
  /** The trial's members in it; null: all. */
  ranks: z.array(count).nullable().describe("the trial's members in the run; null: all"),
  /** Ids of its devices, such as `cpu:0`. */
  devices: z.array(z.string()),
  startedAt: z.string(),
  /** Null while it trains, and if it ended without a result. */
  endedAt: z.string().nullable(),
  /** Empty until it has ended well. */
  scores: z.array(scoreSchema),
});
export type TrialRun = z.output<typeof trialRunSchema>;

/** A trial with its runs. `objectives` are means over parts. */
export const studyTrialSchema = trialSchema.extend({
  isEnqueued: z.boolean(),
  isImported: z.boolean(),
  /** The standard error of each objective over the parts; NaN with one part; null unless the trial is complete. */
  standardErrors: z.array(realNumber).nullable().describe('of each objective over splits and seeds'),
  /**
   * The means of each metric over the parts that have ended, of the ensemble and of the mean member, with standard
   * errors.
   */
  scores: z.array(scoreSchema.extend({ ensembleError: realNumber, meanMemberError: realNumber })),
  runs: z.array(trialRunSchema),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  /** Why it failed; null for others. */
  error: z.string().nullable(),
});
export type StudyTrial = z.output<typeof studyTrialSchema>;

/** What matters for being among the best tenth of the trials, for one objective (`core/studies/importance`). */
export const studyImportanceSchema = z.strictObject({
  objective: objectiveSchema,
  trials: count.describe('complete trials'),
  parameters: z
    .array(z.strictObject({ path: z.string(), share: realNumber, low: realNumber, high: realNumber }))
    .describe('the largest share first, with the ends of its 95 % interval; empty with fewer than 10 trials'),
  note: z.string().nullable().describe('why the shares say little; null with 30 trials and more'),
});
export type StudyImportance = z.output<typeof studyImportanceSchema>;

export interface StudyView {
  study: Study;
  folder: string;
  summary: StudySummary;
  /** The trials, in the order of their numbers. */
  trials: StudyTrial[];
  /** Values that wait to be tried, the next first. */
  enqueued: Trial['values'][];
  /** Damaged lines that were skipped. */
  warnings: string[];
}

/** What changed in a watched study. */
export interface StudyChange {
  summary: StudySummary;
  /** New and changed trials. */
  trials: StudyTrial[];
  enqueued: Trial['values'][];
}

/** A request to make an ensemble from trials of a study. */
export const studyEnsembleSchema = z.strictObject({
  /**
   * `greedy`: members are added while the ensemble's validation loss falls, each as often as it helps; `top-k`: the
   * members of the best trials.
   */
  method: z.enum(['greedy', 'top-k']),
  /** Numbers of the trials to choose from; null: all complete ones. */
  trials: z.array(z.int().min(0)).min(1).nullable(),
  /** Members of the ensemble. */
  size: z.int().min(1).max(256),
  name: z.string().min(1),
});
export type StudyEnsembleRequest = z.output<typeof studyEnsembleSchema>;

/** A journal of more bytes is imported from a terminal. */
export const maximumJournalBytes = 200_000_000;

/** A request to make a study of an Optuna journal. */
export const studyImportSchema = z.strictObject({
  projectFolder: z.string().min(1),
  /** The name of the upload that holds the journal. */
  upload: z.uuid(),
  /** Which of the journal's studies; null: the only one. */
  name: z.string().min(1).nullable(),
  /** What the journal's values are, in their order; null: the usual metric of the ensemble. */
  objectives: z
    .array(objectiveSchema.omit({ direction: true }))
    .min(1)
    .max(4)
    .nullable(),
});
export type StudyImportRequest = z.output<typeof studyImportSchema>;
