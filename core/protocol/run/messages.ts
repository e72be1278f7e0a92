import { z } from 'zod';
import { blasSchema } from '../machine/blas.ts';
import { placementSchema } from '../machine/devices.ts';
import { realNumber } from '../wire/numbers.ts';
import { runConfigSchema } from './config.ts';
import { checkpointRecordSchema, evaluatedSetSchema, runErrorSchema } from './record.ts';
import { runSettingsSchema, settingChangesSchema } from './settings.ts';

/**
 * What hub and workers tell each other, apart from collectives. Small facts travel in these messages; metric points
 * (`PointBatch`) ride along as typed arrays of the same frame.
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

/** What a user may ask of a run while it trains. */
export const controlSchema = z.discriminatedUnion('action', [
  /** Every rank ends its training at its next step, then all meet for a last evaluation. */
  z.strictObject({ action: z.literal('stop') }),
  /** The same, but every rank first completes the epoch that it is in. */
  z.strictObject({ action: z.literal('stop-at-epoch-end') }),
  /** One rank ends its training at its next step, and stands by with its last predictions while the others go on. */
  z.strictObject({ action: z.literal('stop-rank'), rank: z.int().min(0) }),
  /** Every rank waits at its next step until it is resumed; a stop ends the pause. */
  z.strictObject({ action: z.literal('pause') }),
  z.strictObject({ action: z.literal('resume') }),
  /** Every rank keeps its weights as they are at its next step, under this name. */
  z.strictObject({ action: z.literal('checkpoint'), name: z.string() }),
  /** Every rank trains on with these from its next step. What is left out stays as it is. */
  z.strictObject({ action: z.literal('set'), changes: settingChangesSchema }),
]);
export type Control = z.output<typeof controlSchema>;

export const launchSchema = z.strictObject({
  runId: z.string(),
  runFolder: z.string(),
  /** Owner-only folder for what lives as long as the run: the socket, decoded data shared by the ranks. */
  scratchFolder: z.string(),
  projectFolder: z.string(),
  dataFolders: z.strictObject({ lookup: z.string().nullable(), cache: z.string() }),
  config: runConfigSchema,
  blas: blasSchema.nullable(),
  /** What counts now, where it was changed since the run began: a rank whose state says otherwise changes at its next step. */
  settings: runSettingsSchema,
  placement: placementSchema,
  /** Ranks of this wave, ascending: the process group's members. */
  groupRanks: z.array(z.int()),
  attempt: z.int().min(1),
  /** Continue from the newest state that all ranks of the run hold. */
  resume: z.boolean(),
});
export type Launch = z.output<typeof launchSchema>;

export const hubMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('launch'), launch: launchSchema }),
  /** Sent once every rank of the group is ready. */
  z.strictObject({ type: z.literal('start') }),
  z.strictObject({ type: z.literal('control'), control: controlSchema }),
  /** Answers `saving-state`: everything reported before it is on disk. */
  z.strictObject({ type: z.literal('recorded') }),
  z.strictObject({ type: z.literal('leave') }),
]);
export type HubMessage = z.output<typeof hubMessageSchema>;

export const workerMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('hello'), rank: z.int().min(0), pid: z.int(), token: z.string() }),
  z.strictObject({
    type: z.literal('described'),
    project: z.strictObject({ name: z.string(), description: z.string() }),
    task: z.string(),
    /** The ensemble's metric that tells best whether it improves. */
    ensembleMonitor: z.string(),
    backend: z.string(),
    parameterCount: z.int(),
    totalSteps: z.int(),
    samples: z.strictObject({ train: z.int(), validation: z.int(), test: z.int() }),
    versions: z.record(z.string(), z.string()),
  }),
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
  /** A rank is about to save the state that a resumed run goes on from, and waits for `recorded`. */
  z.strictObject({ type: z.literal('saving-state') }),
  z.strictObject({ type: z.literal('evaluated'), set: evaluatedSetSchema }),
  z.strictObject({
    type: z.literal('failed'),
    error: runErrorSchema,
    stack: z.string(),
    /** True for a rank that failed only because the group did. */
    isConsequence: z.boolean(),
  }),
  z.strictObject({
    type: z.literal('finished'),
    ...position,
    stopReason: z.enum(['completed', 'early-stopping', 'requested']),
  }),
]);
export type WorkerMessage = z.output<typeof workerMessageSchema>;
