import { join } from 'node:path';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { readOwnText } from '../../../core/node/own-files.ts';
import { copyOwnFile, removeOwn, writeOwnFile } from '../../../core/node/own-folders.ts';

/** A run that trains may replace a file while it is copied. */
const maximumAttempts = 5;

export interface SealedRecord {
  sha256: string;
  bytes: number;
}

/**
 * Copies a pair of files, a record (`.json`) and the data whose size and hash it holds, out of a run that may be
 * replacing them.
 * @param base path in the run's folder, without an extension
 * @param to the other run, and the path of the copy in it, without an extension
 * @param change makes the record of the copy
 * @returns the record that was read
 * @throws Error that names the file if it is missing, damaged, or replaced again and again
 */
export async function copySealed<R extends SealedRecord>(
  folder: string,
  base: string,
  to: { folder: string; path: string },
  parse: (text: string) => R,
  change: (record: R) => string,
): Promise<R> {
  for (let attempt = 1; attempt <= maximumAttempts; attempt += 1) {
    const record = parse(await readOwnText(folder, `${base}.json`));
    // A crash, or a writer at this moment, leaves the data of the present record under the first name.
    for (const ending of ['.safetensors.next', '.safetensors']) {
      if (!(await copyIfIntact(folder, base + ending, { ...to, path: `${to.path}.safetensors` }, record))) continue;
      await writeOwnFile(to.folder, `${to.path}.json`, change(record));
      return record;
    }
  }
  throw new Error(
    `${join(folder, base)}.safetensors is missing or damaged: it does not match the size and hash in its ` +
      '.json. Fork from another point.',
  );
}

async function copyIfIntact(
  folder: string,
  path: string,
  to: { folder: string; path: string },
  { sha256, bytes }: SealedRecord,
): Promise<boolean> {
  const copied = await unlessMissing(copyOwnFile(folder, path, to));
  if (copied?.sha256 === sha256 && copied.bytes === bytes) return true;
  await removeOwn(to.folder, to.path);
  return false;
}
