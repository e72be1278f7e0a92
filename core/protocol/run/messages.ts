import { z } from 'zod';
import { enforcementSchema } from '../machine/confinement.ts';
import { preprocessingSchema } from '../../preprocessing/schema.ts';
import { blasSchema, placementSchema } from '../machine/devices.ts';
import { realNumber } from '../wire/numbers.ts';
import { runConfigSchema } from './config.ts';
import { checkpointRecordSchema, evaluatedSetSchema, runErrorSchema } from './record.ts';
import { runSettingsSchema, settingChangesSchema } from './settings.ts';

/**
 * Messages between the hub and workers, except for collectives. The points of metrics (`PointBatch`) travel as typed
 * arrays in the same frame.
 */

export const workerStateSchema = z.enum([
  'starting',
  'loading',
  'ready',
  'training',
  'paused',
  'evaluating',
  'standing-by',
  'finishing',
]);
export type WorkerState = z.output<typeof workerStateSchema>;

const position = { epoch: z.int(), step: z.int() };

/** A user's request to a run while it trains. */
export const controlSchema = z.discriminatedUnion('action', [
  /** Every rank ends its training at its next step, then all do a last evaluation together. */
  z.strictObject({ action: z.literal('stop') }),
  /** The same, but every rank first completes its epoch. */
  z.strictObject({ action: z.literal('stop-at-epoch-end') }),
  /** One rank ends its training at its next step, and stands by with its last predictions while the others continue. */
  z.strictObject({ action: z.literal('stop-rank'), rank: z.int().min(0) }),
  /** Every rank waits at its next step until it is resumed; a stop ends the pause. */
  z.strictObject({ action: z.literal('pause') }),
  z.strictObject({ action: z.literal('resume') }),
  /** Every rank saves its weights at its next step, under this name. */
  z.strictObject({ action: z.literal('checkpoint'), name: z.string() }),
  /** Every rank uses these settings from its next step. Omitted settings stay unchanged. */
  z.strictObject({ action: z.literal('set'), changes: settingChangesSchema }),
]);
export type Control = z.output<typeof controlSchema>;

export const launchSchema = z.strictObject({
  runId: z.string(),
  runFolder: z.string(),
  /** Owner-only folder for files that last as long as the run: the socket, decoded data shared by the ranks. */
  scratchFolder: z.string(),
  /**
   * The same on a disk, for data that do not fit into a scratch folder in memory; null where that lies on a disk, or
   * there is none.
   */
  overflowFolder: z.string().nullable(),
  projectFolder: z.string(),
  /** The run's copy of the project's scripts, which is loaded instead of them; null: they are loaded as they are. */
  sourceFolder: z.string().nullable(),
  dataFolders: z.strictObject({ lookup: z.string().nullable(), cache: z.string() }),
  config: runConfigSchema,
  blas: blasSchema.nullable(),
  /** The settings in effect. A rank whose saved state has others changes them at its next step. */
  settings: runSettingsSchema,
  placement: placementSchema,
  /** Ranks that train together from now on, ascending: the process group's members. */
  groupRanks: z.array(z.int()),
  /** The ranks of these that are on this rank's node, which share its folders. */
  nodeRanks: z.array(z.int()),
  /**
   * The number of processes of the MPI job whose ranks exchange arrays by MPI, one for each rank; null: they do
   * without.
   */
  mpiProcesses: z.int().min(1).nullable(),
  /**
   * Ranks that have ended and whose predictions lie in the run's folder: of earlier waves, or those that a missing
   * member catches up with.
   */
  finishedRanks: z.array(z.int()),
  /** Ranks that were lost before. */
  lostRanks: z.array(z.int()),
  /** Whether members train in several waves. */
  isInWaves: z.boolean(),
  /** Where the finished ranks ended, up to which missing members train alone; null unless they do. */
  until: z.strictObject({ round: z.int(), ...position }).nullable(),
  attempt: z.int().min(1),
  /**
   * The round of saved states from which the ranks of this wave continue, and the number of ranks that saved it; null:
   * from the start.
   */
  resumeFrom: z.strictObject({ round: z.int().min(0), worldSize: z.int().min(1) }).nullable(),
  /**
   * The position of the checkpoint from which a forked run takes its first weights; null: from the model's
   * initializers.
   */
  forkedAt: z.strictObject(position).nullable(),
  /**
   * SHA-256 of `labels.json` in the run's folder, where the run trains on some labels of a pool; null: on the whole
   * training split.
   */
  labels: z.string().nullable(),
});
export type Launch = z.output<typeof launchSchema>;

/** What a short process measures with a project's model and data, to choose how many members a worker trains. */
export const workersTaskSchema = z.strictObject({
  /** Of the first rank. Its run's folder is empty. */
  launch: launchSchema,
  /** Members of the fullest device. */
  members: z.int().min(2),
  /** How long to time steps. */
  budgetMs: z.number().positive(),
});
export type WorkersTask = z.output<typeof workersTaskSchema>;

/** A run as a worker process takes part in it. */
const taskRunSchema = z.strictObject({
  /** The socket of the run's hub. */
  socketPath: z.string(),
  /** The token that each rank sends with its hello. */
  token: z.string(),
  ranks: z.array(z.int().min(0)).min(1),
});
export type TaskRun = z.output<typeof taskRunSchema>;

/** What a worker process reads from its input, one JSON object a line: the runs whose ranks it trains next. */
export const workerTaskSchema = z.strictObject({ runs: z.array(taskRunSchema).min(1) });
export type WorkerTask = z.output<typeof workerTaskSchema>;

export const hubMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('launch'), launch: launchSchema }),
  /** Sent once every rank of the group is ready. */
  z.strictObject({ type: z.literal('start') }),
  z.strictObject({ type: z.literal('control'), control: controlSchema }),
  /** Answers `saving-state`: everything reported before it is on disk, in the first `rows` rows of the metrics. */
  z.strictObject({ type: z.literal('recorded'), rows: z.int().nullable() }),
  /** The rank's first `count` points of this attempt are in the metrics' file. */
  z.strictObject({ type: z.literal('written'), count: z.int() }),
  /** Ranks were lost for good: collectives that are answered from now on are those of the remaining ranks. */
  z.strictObject({ type: z.literal('remaining'), ranks: z.array(z.int()) }),
  z.strictObject({ type: z.literal('leave') }),
  /**
   * The hub gives the rank up, whose process also trains ranks of other runs: it ends as if the hub were gone, and
   * closes its connection.
   */
  z.strictObject({ type: z.literal('abandon') }),
]);
export type HubMessage = z.output<typeof hubMessageSchema>;

export const workerMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('hello'),
    rank: z.int().min(0),
    pid: z.int(),
    token: z.string(),
    /** Who limits the process. */
    enforcement: enforcementSchema,
  }),
  z.strictObject({
    type: z.literal('described'),
    project: z.strictObject({ name: z.string(), description: z.string() }),
    task: z.string(),
    /** The ensemble's metric that shows best whether it improves. */
    ensembleMonitor: z.string(),
    backend: z.string(),
    parameterCount: z.int(),
    /** Multiplications of the largest matrix product of a step's forward pass. */
    largestProduct: z.int(),
    totalSteps: z.int(),
    samples: z.strictObject({ train: z.int(), validation: z.int(), test: z.int() }),
    versions: z.record(z.string(), z.string()),
  }),
  /** What the project fitted on its training split, which the hub keeps in the run. */
  z.strictObject({ type: z.literal('fitted'), preprocessing: preprocessingSchema }),
  z.strictObject({ type: z.literal('state'), state: workerStateSchema, ...position }),
  z.strictObject({
    type: z.literal('progress'),
    ...position,
    samplesPerSecond: realNumber,
    memoryBytes: z.number(),
  }),
  /** Arrays of the frame: the five columns of a `PointBatch`, in its order. */
  z.strictObject({ type: z.literal('points'), names: z.array(z.string()) }),
  z.strictObject({
    type: z.literal('event'),
    kind: z.string(),
    ...position,
    message: z.string(),
    data: z.record(z.string(), z.unknown()).default({}),
  }),
  z.strictObject({ type: z.literal('checkpoint'), record: checkpointRecordSchema }),
  /** A rank is about to save the state for a resume, and waits for `recorded`. */
  z.strictObject({ type: z.literal('saving-state') }),
  z.strictObject({ type: z.literal('evaluated'), set: evaluatedSetSchema }),
  z.strictObject({
    type: z.literal('failed'),
    error: runErrorSchema,
    stack: z.string(),
    /** True for a rank that failed only because its group did. */
    isConsequence: z.boolean(),
  }),
  /** The rank was asked to leave, and its process waits for the next run instead of ending. */
  z.strictObject({ type: z.literal('vacated') }),
  z.strictObject({
    type: z.literal('finished'),
    ...position,
    stopReason: z.enum(['completed', 'early-stopping', 'requested']),
  }),
]);
export type WorkerMessage = z.output<typeof workerMessageSchema>;
