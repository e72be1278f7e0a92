import { z } from 'zod';
import { blasSchema, placementSchema } from '../machine/devices.ts';
import { realNumber } from '../wire/numbers.ts';
import { type RunConfig, runConfigSchema } from './config.ts';
import { labelsRecordSchema } from './pool-task.ts';
import { furtherOutputSchema } from '../../ensemble/predictions.ts';
import { partsSchema } from './parts.ts';
import { settingChangesSchema } from './settings.ts';
import { workersSchema } from './workers.ts';
import { sweepSchema } from './sweep/sweep.ts';

/** The records in a run's folder: `run.json`, `events.jsonl`, a checkpoint's `.json`. Formats: docs/formats.md. */

export const runStatusSchema = z.enum(['created', 'running', 'finished', 'stopped', 'failed', 'interrupted']);
export type RunStatus = z.output<typeof runStatusSchema>;

/** An error in a run's record, with the place where it happened as far as it is known. */
export const runErrorSchema = z.strictObject({
  message: z.string(),
  rank: z.int().nullable().default(null),
  device: z.string().nullable().default(null),
  epoch: z.int().nullable().default(null),
  step: z.int().nullable().default(null),
  /** Where the project's code raised it, `project.ts:31:12` with line and column; absent if it did not. */
  source: z.string().optional(),
  /** The lines of the code there, with a caret below the column; absent where they could not be read. */
  excerpt: z.string().optional(),
});
export type RunError = z.output<typeof runErrorSchema>;

/** The ensemble's scores of one label of a multi-label run. `samples` have it, or with weights the sum of theirs. */
const labelScoresSchema = z.strictObject({
  label: z.string(),
  samples: z.number(),
  auroc: realNumber,
  ap: realNumber,
  f1: realNumber,
});

/** The evaluation of one set of checkpoints on a split: each member, and the ensemble. */
export const evaluatedSetSchema = z.strictObject({
  set: z.enum(['ensemble-best', 'member-best', 'final']),
  split: z.enum(['validation', 'test']),
  /** Ranks of its members, ascending. */
  ranks: z.array(z.int()),
  /** Epoch of each member's checkpoint, in the order of the ranks. */
  epochs: z.array(z.int()),
  ensemble: z.record(z.string(), realNumber),
  /** For each metric, one value per member, in the order of the ranks. */
  members: z.record(z.string(), z.array(realNumber)),
  /** The ensemble's scores of each label, in a multi-label run. */
  labels: z.array(labelScoresSchema).optional(),
});
export type EvaluatedSet = z.output<typeof evaluatedSetSchema>;

export const runSummarySchema = z.strictObject({
  /** The attempt that ended with this summary; a later failed attempt keeps it. */
  attempt: z.int().min(1),
  epochs: z.int(),
  steps: z.int(),
  stopReason: z.enum(['completed', 'early-stopping', 'requested']),
  /** Last value of every metric, by name. */
  metrics: z.record(z.string(), realNumber),
  /** The best value of the monitored ensemble metric and its position. */
  best: z.strictObject({ metric: z.string(), value: realNumber, epoch: z.int(), step: z.int() }).nullable(),
  evaluatedSets: z.array(evaluatedSetSchema),
});
export type RunSummary = z.output<typeof runSummarySchema>;

/** Where an attempt trained. */
export const environmentSchema = z.strictObject({
  host: z.string(),
  /** System, its release and architecture. */
  os: z.string(),
  cpu: z.string(),
  cores: z.int(),
  memoryBytes: z.int(),
  node: z.string(),
  /** Id and name of each device of the plan. */
  devices: z.array(z.string()),
  /** The variables that may change results or speed, without secrets. */
  variables: z.record(z.string(), z.string()),
});
export type Environment = z.output<typeof environmentSchema>;

export const attemptSchema = z.strictObject({
  attempt: z.int().min(1),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  status: runStatusSchema,
  /**
   * Its cause: the start of the run, its start as a fork of another one, a user's resume, or a restart after a lost
   * process.
   */
  kind: z.enum(['start', 'fork', 'resume', 'restart']).optional(),
  /** The requested changes to the project's defaults, or to the configuration of the attempt before. */
  overrides: z.record(z.string(), z.unknown()).optional(),
  /** Its whole configuration; absent where members were put together, which is one attempt. */
  config: runConfigSchema.optional(),
  /** Settings that were changed while it trained, or earlier and not overridden; they replace those of its `config`. */
  changed: settingChangesSchema.optional(),
  /**
   * The position at which its ranks resumed, once they have; null with waves, because each wave resumes at a different
   * position.
   */
  from: z.strictObject({ epoch: z.int(), step: z.int() }).nullable().optional(),
  /** Ranks of missing members that it completed alone; absent where all ranks that were not lost trained. */
  completes: z.array(z.int()).optional(),
  /** SHA-256 of the project's source files, and their git commit; null if there was none. */
  sourceHash: z
    .string()
    // It names a folder of the run.
    .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in 64 hexadecimal digits')
    .nullable()
    .optional(),
  gitCommit: z.string().nullable().optional(),
  environment: environmentSchema.optional(),
});
export type Attempt = z.output<typeof attemptSchema>;

/** A member that the others continued without. */
export const lostMemberSchema = z.strictObject({
  rank: z.int(),
  attempt: z.int().min(1),
  /** Its last reported position. */
  epoch: z.int(),
  step: z.int(),
  /** How it was lost, as the end of a sentence: `was killed by SIGKILL`. */
  how: z.string(),
});
export type LostMember = z.output<typeof lostMemberSchema>;

/** Where a forked run begins: a saved point of another run. */
export const originSchema = z.strictObject({
  /** Id, name and folder of that run when the fork was made. */
  run: z.string(),
  name: z.string(),
  folder: z.string(),
  /** Its attempt that saved the point. */
  attempt: z.int().min(1),
  /**
   * `state`: training continues exactly. `checkpoint`: with the weights alone, so that optimizer and callbacks start
   * anew.
   */
  kind: z.enum(['state', 'checkpoint']),
  /** The point's name, as `tutti show` lists it: `round-40`, `ensemble-best`. */
  point: z.string(),
  /** Epoch of the last step before the point, and the steps done. */
  epoch: z.int(),
  step: z.int(),
});
export type RunOrigin = z.output<typeof originSchema>;

/** A run's id becomes part of paths and addresses. */
export const runIdSchema = z.string().regex(/^\w[\w-]{0,199}$/, 'it must be letters, digits, "_" and "-", at most 200');

const sha256Schema = z.string().regex(/^[\da-f]{64}$/, 'it must be 64 hexadecimal digits');

/** A project's own metric. */
const ownMetricSchema = z.strictObject({
  name: z.string(),
  direction: z.enum(['min', 'max', 'none']),
  of: z.enum(['prediction', 'ensemble']),
  help: z.string(),
});

/** The run of which a folder is a copy. Its hub is the process that keeps the copy. */
const remoteSchema = z.strictObject({
  /** The address for ssh: `user@login`. */
  from: z.string(),
  /** Tutti's home there; null: as that user's shell has it. */
  home: z.string().nullable(),
  folder: z.string(),
  /** `left`: no process keeps the copy any more. */
  link: z.enum(['connected', 'lost', 'left']),
  since: z.iso.datetime(),
  /** Why it is lost; null where it is not. */
  reason: z.string().nullable(),
});
export type Remote = z.output<typeof remoteSchema>;

export const runRecordSchema = z.strictObject({
  format: z.literal(1),
  id: runIdSchema,
  name: z.string(),
  project: z.strictObject({ name: z.string(), description: z.string(), folder: z.string() }),
  task: z.string(),
  /** The project's own metrics; absent if it has none. */
  metrics: z.array(ownMetricSchema).optional(),
  /** Levels of the quantiles of a quantile regression; absent for other tasks. */
  quantiles: z.array(z.number()).optional(),
  /** Further outputs of its models, in their order; absent if there are none. */
  outputs: z.array(furtherOutputSchema).optional(),
  config: runConfigSchema,
  /** Settings that were changed while it trained; they replace those of `config`. Absent if there are none. */
  changed: settingChangesSchema.optional(),
  status: runStatusSchema,
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  plan: z.array(placementSchema),
  /** Members that are missing, because they were lost and not completed since; absent if there are none. */
  lostMembers: z.array(lostMemberSchema).optional(),
  /** Seed of each rank. */
  seeds: z.array(z.int()),
  /** The system's BLAS for matrix products, chosen once for all ranks; null: Tutti's kernels. */
  blas: blasSchema.nullable().default(null),
  /** How many members a worker trains, and why; absent where the configuration says so. */
  workers: workersSchema.optional(),
  versions: z.record(z.string(), z.string()),
  gitCommit: z.string().nullable(),
  attempts: z.array(attemptSchema),
  /** The point of another run at which this one begins; absent from runs that begin at the start. */
  origin: originSchema.optional(),
  /** The sweep over seeds that it belongs to; absent from others. */
  sweep: sweepSchema.optional(),
  /**
   * The labels that it trains on, of a pool (`tutti discover`); absent from runs that train on their whole training
   * split.
   */
  labels: labelsRecordSchema.optional(),
  /**
   * Where the members of an ensemble that was made from checkpoints come from (`tutti ensemble`); absent from runs that
   * trained.
   */
  parts: partsSchema.optional(),
  /**
   * The hub that trains it, for messages and controls; null if none does. It is alive as long as the lock of `hub.lock`
   * is held.
   */
  hub: z.strictObject({ host: z.string(), pid: z.int(), socket: z.string() }).nullable(),
  /** Of a copy that `tutti attach user@login:run` keeps of a run elsewhere; absent from runs that train here. */
  remote: remoteSchema.optional(),
  error: runErrorSchema.nullable(),
  summary: runSummarySchema.nullable(),
});
export type RunRecord = z.output<typeof runRecordSchema>;

/** The configuration of an attempt. */
export function configOfAttempt({ config }: Pick<RunRecord, 'config'>, attempt: Attempt): RunConfig {
  return attempt.config ?? config;
}

/** The summary of the last attempt; null while it trains, and if it ended without one. */
export function ownSummary({ summary, attempts }: Pick<RunRecord, 'summary' | 'attempts'>): RunSummary | null {
  return summary !== null && summary.attempt < attempts.length ? null : summary;
}

/** Number of attempts that train or have trained; a resume changes nothing before it trains. */
export function attemptsBegun({ attempts }: Pick<RunRecord, 'attempts'>): number {
  const waiting = attempts.at(-1);
  return attempts.length - (waiting?.config !== undefined && waiting.from === undefined ? 1 : 0);
}

/** One line of `events.jsonl`. `rank` is null for an event of the whole run. */
export const runEventSchema = z.strictObject({
  time: z.iso.datetime(),
  attempt: z.int().min(1),
  rank: z.int().nullable(),
  kind: z.string(),
  epoch: z.int().nullable().default(null),
  step: z.int().nullable().default(null),
  message: z.string(),
  data: z.record(z.string(), z.unknown()).default({}),
});
export type RunEvent = z.output<typeof runEventSchema>;

/** `<name>.json` beside `<name>.safetensors`. A checkpoint is valid only if this file exists and the hash matches. */
export const checkpointRecordSchema = z.strictObject({
  format: z.literal(1),
  rank: z.int().min(0),
  /** `ensemble-best`, `member-best`, `final`, `epoch-12`. It becomes part of paths. */
  name: z.string().regex(/^[\w-]+$/),
  epoch: z.int(),
  step: z.int(),
  monitor: z.string().nullable(),
  score: realNumber.nullable(),
  /**
   * SHA-256 of the model's architecture, which names its file in `models/`; absent from checkpoints of earlier
   * versions.
   */
  model: sha256Schema.optional(),
  sha256: sha256Schema,
  bytes: z.int(),
  savedAt: z.iso.datetime(),
});
export type CheckpointRecord = z.output<typeof checkpointRecordSchema>;

/** One way in which the members of a set predict together. */
export interface EvaluatedEnsemble {
  label: string;
  /** Prefix of its metrics in `ensemble`: `product_` for `product_nll`. */
  prefix: '' | 'product_';
}

/**
 * The ensembles of an evaluated set, what answers first. Jointly trained members answer by their product of experts,
 * beside which the mean stands.
 */
export function ensemblesOf(ensemble: EvaluatedSet['ensemble']): EvaluatedEnsemble[] {
  if (!('product_nll' in ensemble)) return [{ label: 'ensemble', prefix: '' }];
  return [
    { label: 'product of experts', prefix: 'product_' },
    { label: 'mean of members', prefix: '' },
  ];
}
