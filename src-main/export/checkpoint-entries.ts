import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { checkpointRecordSchema } from '../../protocol/run-record.ts';
import { errorCode, explainFileError } from '../store/file-error.ts';
import type { ExportEntry } from './sinks.ts';

/** A checkpoint that is not exported because it does not count. */
export interface SkippedFile {
  path: string;
  reason: string;
}

/**
 * The checkpoints that count, each as its weights and its `.json`; the others go to `skip`. What is hashed is what is
 * exported, even when a running worker replaces the file meanwhile: both are read through one open file.
 * @param paths files below `checkpoints/`, relative to the run
 */
export async function* checkpointEntries(
  folder: string,
  paths: readonly string[],
  skip: (file: SkippedFile) => void,
): AsyncGenerator<ExportEntry> {
  for (const path of paths.filter((path) => path.endsWith('.safetensors'))) {
    const recordPath = path.replace(/\.safetensors$/, '.json');
    const recordText = await readRecordText(join(folder, recordPath));
    if (recordText === null) {
      skip({ path, reason: 'its .json is missing: it was not written to the end' });
      continue;
    }
    const weights = await openWeights(join(folder, path));
    const reason = await unsoundness(recordText, weights);
    if (reason !== null) {
      await weights.close();
      skip({ path, reason });
      continue;
    }
    const sizeBytes = (await weights.stat()).size;
    yield { path, sizeBytes, compress: false, open: () => weights.createReadStream({ start: 0 }) };
    yield { path: recordPath, compress: true, open: () => Readable.from([recordText]) };
  }
}

/** Why a checkpoint does not count, null when it does. */
async function unsoundness(recordText: string, weights: FileHandle): Promise<string | null> {
  const record = checkpointRecordSchema.safeParse(parseJson(recordText));
  if (!record.success) return 'its .json is damaged';
  const { size } = await weights.stat();
  if (size !== record.data.bytes) return `it has ${size} bytes, but its .json says ${record.data.bytes}`;
  const hash = createHash('sha256');
  for await (const chunk of weights.createReadStream({ start: 0, autoClose: false })) hash.update(chunk);
  return hash.digest('hex') === record.data.sha256 ? null : 'its SHA-256 is not the one in its .json';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function readRecordText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw explainFileError(error, path, 'read');
  }
}

async function openWeights(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw explainFileError(error, path, 'read');
  }
}
