import { z } from 'zod';
import { controlRequestSchema } from './control-state.ts';
import { runIdSchema } from './record.ts';

/**
 * What a hub and a process on another machine that follows its run send each other (`tutti attach user@login:run`): the
 * files of the run's folder as they change, and requests to the run. Bytes of files travel as the arrays of a message.
 */

/**
 * How a followed file changes. `growing`: lines are appended, or the whole file is replaced by renaming. `whole`: it is
 * only replaced.
 */
export type FileKind = 'growing' | 'whole';

const growing = [/^(metrics|metrics\.attempt-\d+|devices)\.csv$/, /^events\.jsonl$/, /^logs\/rank-\d+\.log$/];
const whole = [
  /^(run|labels|preprocessing)\.json$/,
  /^checkpoints\/rank-\d+\/[\w-]+\.json$/,
  /^models\/rank-\d+\/[\w-]+\.json$/,
  /^postprocessing\/[\w-]+\.json$/,
  /^predictions\/[\w-]+\/(rank-\d+\/)?[\w-]+\.safetensors$/,
  /^plots\/[\w-]+\.(svg|png)$/,
];

/** Folders that hold followed files, besides the run's own. */
export const followedFolders = ['logs', 'checkpoints', 'models', 'postprocessing', 'predictions', 'plots'] as const;

/** Larger files that are replaced as a whole stay where they are. */
export const largestWholeBytes = 32 * 2 ** 20;

/** Null for files that stay with the hub: weights, states, code. @param path relative to the run's folder, with "/" */
export function followedAs(path: string): FileKind | null {
  if (growing.some((pattern) => pattern.test(path))) return 'growing';
  return whole.some((pattern) => pattern.test(path)) ? 'whole' : null;
}

/**
 * Where a run can be reached: a file in the home of the user who trains it, which only that user can read because of
 * the token.
 */
export const runAccessSchema = z.strictObject({
  format: z.literal(1),
  id: runIdSchema,
  name: z.string(),
  /** The run's folder, on a file system that the login node sees too. */
  folder: z.string(),
  /** Tutti's version there. */
  version: z.string(),
  /** Names and addresses of the hub's node, the most likely one first. They become arguments of ssh. */
  hosts: z.array(z.string().regex(/^[A-Za-z\d][\w.:-]*$/)).min(1),
  port: z.int().min(1).max(65_535),
  /** The key of TLS. */
  token: z.string(),
  node: z.string(),
  pid: z.int(),
});
export type RunAccess = z.output<typeof runAccessSchema>;

/** A file that the follower has a copy of, with what tells whether the hub's is still the same one. */
const heldFileSchema = z.strictObject({ path: z.string(), identity: z.string(), bytes: z.int().min(0) });
export type HeldFile = z.output<typeof heldFileSchema>;

export const followerMessageSchema = z.discriminatedUnion('type', [
  /** Asks for the files of the run from now on. */
  z.strictObject({ type: z.literal('follow'), have: z.array(heldFileSchema) }),
  /** The last `files` are on the follower's disk: it can take more. */
  z.strictObject({ type: z.literal('taken') }),
  z.strictObject({ type: z.literal('request'), number: z.int(), request: controlRequestSchema }),
  z.strictObject({ type: z.literal('beat') }),
]);
export type FollowerMessage = z.output<typeof followerMessageSchema>;

/** New bytes of a file: from `offset` on, or all of it where `isNew`. */
const partSchema = z.strictObject({
  path: z.string(),
  identity: z.string(),
  offset: z.int().min(0),
  /** Whether it replaces what the follower has under this name. */
  isNew: z.boolean(),
});
export type FilePart = z.output<typeof partSchema>;

export const followedMessageSchema = z.discriminatedUnion('type', [
  /** The first message. A peer from which nothing comes for this long counts as lost. */
  z.strictObject({ type: z.literal('settle'), heartbeatMs: z.int().min(1) }),
  /** `parts[i]` has the bytes `arrays[i]` of the frame. The record comes last, when all that it tells of is there. */
  z.strictObject({ type: z.literal('files'), parts: z.array(partSchema), removed: z.array(z.string()) }),
  z.strictObject({ type: z.literal('answer'), number: z.int(), refusal: z.string().nullable() }),
  z.strictObject({ type: z.literal('beat') }),
  /** The run has ended, and all its files are there. */
  z.strictObject({ type: z.literal('ended') }),
]);
export type FollowedMessage = z.output<typeof followedMessageSchema>;
