import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { checkpointRecordSchema } from '../../core/protocol/run/record.ts';
import type { CheckpointRecord } from '../../core/protocol/run/record.ts';
import { unlessMissing } from '../../core/node/file-error.ts';
import { ForeignEntryError, openOwnFile, readOwnText } from '../../core/node/own-files.ts';
import type { ExportEntry } from './sinks.ts';

/**
 * A part of a run that is not exported: an incomplete or damaged checkpoint, or an entry that is no file of the run's
 * folder.
 */
export interface SkippedFile {
  path: string;
  reason: string;
}

interface OpenCheckpoint {
  recordText: string;
  weights: FileHandle;
  sizeBytes: number;
}

/**
 * The valid checkpoints, each as its weights and its `.json`. The others are passed to `skip`.
 * @param bases their paths relative to the run, without ending
 */
export async function* checkpointEntries(
  folder: string,
  bases: readonly string[],
  skip: (file: SkippedFile) => void,
): AsyncGenerator<ExportEntry> {
  for (const base of bases) {
    const opened = await openUnlessForeign(folder, base);
    if ('reason' in opened) {
      skip({ path: opened.path ?? `${base}.safetensors`, reason: opened.reason });
      continue;
    }
    const { recordText, weights, sizeBytes } = opened;
    // Exports the open file that was hashed, even if a worker replaces the file meanwhile.
    yield {
      path: `${base}.safetensors`,
      sizeBytes,
      compress: false,
      open: () => weights.createReadStream({ start: 0 }),
    };
    yield { path: `${base}.json`, compress: true, open: () => Readable.from([recordText]) };
  }
}

/** Why a checkpoint is not exported. `path` is that of the file, where it is not the weights'. */
interface Invalid {
  reason: string;
  path?: string;
}

async function openUnlessForeign(folder: string, base: string): Promise<OpenCheckpoint | Invalid> {
  try {
    return await openCheckpoint(folder, base);
  } catch (error) {
    if (error instanceof ForeignEntryError) return { reason: error.reason, path: error.path };
    throw error;
  }
}

/** The checkpoint at `base` (a path without ending), or the reason why it is not valid. */
async function openCheckpoint(folder: string, base: string): Promise<OpenCheckpoint | Invalid> {
  const readRecordText = () => unlessMissing(readOwnText(folder, `${base}.json`));
  const recordText = await readRecordText();
  if (recordText === null) return { reason: 'its .json is missing, so it was not written completely' };
  const record = checkpointRecordSchema.safeParse(parseJson(recordText));
  if (!record.success) return { reason: `its record ${base}.json is damaged` };
  let reason = 'it is missing';
  // A save that was interrupted after writing its .json leaves its weights under `.next`.
  for (const ending of ['.safetensors.next', '.safetensors']) {
    const weights = await unlessMissing(openOwnFile(folder, base + ending));
    const mismatch = weights === null ? reason : await findMismatch(weights, record.data);
    if (weights !== null && mismatch === null) return { recordText, weights, sizeBytes: record.data.bytes };
    await weights?.close();
    reason = mismatch ?? reason;
  }
  const wasReplaced = (await readRecordText()) !== recordText;
  return wasReplaced ? openCheckpoint(folder, base) : { reason };
}

async function findMismatch(weights: FileHandle, { bytes, sha256 }: CheckpointRecord): Promise<string | null> {
  const { size } = await weights.stat();
  if (size !== bytes) return `it has ${size} bytes, but its .json says ${bytes}`;
  const hash = createHash('sha256');
  for await (const chunk of weights.createReadStream({ start: 0, autoClose: false })) hash.update(chunk);
  return hash.digest('hex') === sha256 ? null : 'its SHA-256 is not the one in its .json';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
