import { createHash } from 'node:crypto';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../../core/text/errors.ts';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { ForeignEntryError, openOwnFile, readOwnText } from '../../../core/node/own-files.ts';
import { hasOwnEntry } from '../../../core/node/own-folders.ts';
import { roundPath } from '../../../core/node/saved-rounds.ts';

/** The fields of `state/rank-<r>/round-<n>.json` (written by the workers) that a resume needs. */
const savedRoundSchema = z.looseObject({
  round: z.int(),
  epoch: z.int(),
  step: z.int(),
  /** The attempt that saved it. */
  attempt: z.int(),
  /** Rows of the metrics that belong to a state within a round; null where the step tells it. */
  metricRows: z.int().nullable(),
  /** Rows of the metrics that were on the disk when it was saved; absent where nobody counted them. */
  recordedRows: z.int().optional(),
  /** Whether the rank saved it without the others, after the hub had died. */
  isAlone: z.boolean(),
  /** Number of ranks that saved it, where another number of ranks may resume. */
  worldSize: z.int().min(1).optional(),
  sha256: z.string(),
  bytes: z.int(),
  savedAt: z.string(),
});
export type SavedRound = z.output<typeof savedRoundSchema>;

const pieceBytes = 2 ** 20;

/** Whether a rank of the run has saved a state. Without one, a resume begins the run anew. */
export function holdsState(folder: string): boolean {
  return hasOwnEntry(folder, 'state', /^round-\d+\.json$/);
}

/**
 * Reads the record of a rank's state and compares the state with it: size and SHA-256.
 * @returns the record, or an error that names the damaged file and what is wrong with it
 */
export async function checkRound(folder: string, rank: number, round: number): Promise<SavedRound | Error> {
  const base = relative(folder, roundPath(folder, rank, round));
  const record = await readSavedRound(folder, rank, round);
  if (record instanceof Error) return record;
  try {
    // A crash may have left the data of the present record under this name: `workers/checkpoints/sealed-file.ts`.
    if (await isIntact(folder, `${base}.safetensors.next`, record)) return record;
    if (await isIntact(folder, `${base}.safetensors`, record)) return record;
  } catch (error) {
    // A link, a pipe or a folder in its place damages this state alone.
    if (error instanceof ForeignEntryError) return error;
    throw error;
  }
  return new Error(
    `${join(folder, base)}.safetensors is missing or damaged: it does not match the size and hash in its .json`,
  );
}

/** @throws ZodError or SyntaxError */
export function parseSavedRound(text: string): SavedRound {
  return savedRoundSchema.parse(JSON.parse(text));
}

/** The record of a rank's state, or an error that says what is wrong with it. */
export async function readSavedRound(folder: string, rank: number, round: number): Promise<SavedRound | Error> {
  const path = `${roundPath(folder, rank, round)}.json`;
  try {
    return parseSavedRound(await readOwnText(folder, relative(folder, path)));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error).replaceAll(/\s+/g, ' ') : messageOf(error);
    return new Error(`${path} is damaged: ${reason}`, { cause: error });
  }
}

async function isIntact(folder: string, path: string, { sha256, bytes }: SavedRound): Promise<boolean> {
  const handle = await unlessMissing(openOwnFile(folder, path));
  if (handle === null) return false;
  try {
    if ((await handle.stat()).size !== bytes) return false;
    const hash = createHash('sha256');
    for await (const piece of handle.createReadStream({ highWaterMark: pieceBytes, autoClose: false }))
      hash.update(piece as Uint8Array);
    return hash.digest('hex') === sha256;
  } finally {
    await handle.close();
  }
}
