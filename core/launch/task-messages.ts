import { z } from 'zod';
import { deviceSchema, loadSampleSchema, placementSchema } from '../protocol/machine/devices.ts';

/**
 * Messages between the first task of a launch, whose process has the hub, and the other tasks, which start the workers
 * of their devices. What the workers themselves send goes through separate connections, as on one machine.
 */

/** Folders of a node for files that its ranks share. */
const foldersSchema = z.strictObject({ scratchFolder: z.string(), overflowFolder: z.string().nullable() });
export type NodeFolders = z.output<typeof foldersSchema>;

export const taskMessageSchema = z.discriminatedUnion('type', [
  /** The first message of a task. */
  z.strictObject({
    type: z.literal('join'),
    /** Tutti's version. */
    version: z.string(),
    worldRank: z.int().min(0),
    localRank: z.int().min(0),
    localSize: z.int().min(1),
    /** Its node's name. */
    node: z.string(),
    pid: z.int(),
    devices: z.array(deviceSchema),
    /** Whether the launcher bound it to a part of its node's cores. */
    isBound: z.boolean(),
    /** Why its workers cannot exchange arrays by MPI; the end of a sentence. Null if they can. */
    whyNoMpi: z.string().nullable(),
    folders: foldersSchema,
  }),
  z.strictObject({ type: z.literal('beat') }),
  z.strictObject({ type: z.literal('started'), id: z.int(), pid: z.int().nullable() }),
  z.strictObject({ type: z.literal('lines'), id: z.int(), lines: z.array(z.string()) }),
  /** Loads of its devices, as `sample` asks for them. */
  z.strictObject({ type: z.literal('loads'), sample: loadSampleSchema }),
  z.strictObject({ type: z.literal('loads-unknown'), reason: z.string() }),
  /** @see WorkerChild.ended */
  z.strictObject({ type: z.literal('ended'), id: z.int(), how: z.string() }),
]);
export type TaskMessage = z.output<typeof taskMessageSchema>;
export type Join = Extract<TaskMessage, { type: 'join' }>;

export const taskOrderSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('beat') }),
  /** A peer from which nothing comes for this long counts as lost. */
  z.strictObject({ type: z.literal('settle'), heartbeatMs: z.int().min(1) }),
  /** Reports the loads of these devices from now on; none: no more. */
  z.strictObject({ type: z.literal('sample'), devices: z.array(deviceSchema) }),
  /** Empties the folders that the node's ranks share. */
  z.strictObject({ type: z.literal('empty') }),
  /** Starts a worker. */
  z.strictObject({
    type: z.literal('start'),
    id: z.int(),
    placements: z.array(placementSchema).min(1),
    /** All placements of the wave on this node. */
    wave: z.array(placementSchema).min(1),
    token: z.string(),
    project: z.string(),
    runFolder: z.string(),
    /** Further files that the worker reads. */
    read: z.array(z.string()),
    memoryLimitBytes: z.int().min(0),
    /** Whether the worker calls MPI. */
    usesMpi: z.boolean(),
    folders: foldersSchema,
  }),
  z.strictObject({ type: z.literal('kill'), id: z.int() }),
  /** The launch has ended. */
  z.strictObject({ type: z.literal('end'), exitCode: z.int() }),
]);
export type TaskOrder = z.output<typeof taskOrderSchema>;
export type StartOrder = Extract<TaskOrder, { type: 'start' }>;
