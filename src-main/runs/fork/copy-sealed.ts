import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile, writeFlushed } from '../../../core/node/atomic-file.ts';
import { errorCode } from '../../../core/node/file-error.ts';
import { openOwnFile, readOwnText } from '../../../core/node/folders/own-files.ts';

/** A run that trains may replace a file while it is copied. */
const maximumAttempts = 5;

const pieceBytes = 2 ** 20;

export interface SealedRecord {
  sha256: string;
  bytes: number;
}

/**
 * Copies a pair of files, a record (`.json`) and the data whose size and hash it holds, out of a run that may be replacing them.
 * @param base path in the run's folder, without an extension
 * @param target path of the copy, without an extension
 * @param change makes the record of the copy
 * @returns the record that was read
 * @throws Error that names the file if it is missing, damaged, or replaced again and again
 */
export async function copySealed<R extends SealedRecord>(
  folder: string,
  base: string,
  target: string,
  parse: (text: string) => R,
  change: (record: R) => string,
): Promise<R> {
  for (let attempt = 1; attempt <= maximumAttempts; attempt += 1) {
    const record = parse(await readOwnText(folder, `${base}.json`));
    // A crash, or a writer at this moment, leaves the data of the present record under the first name.
    for (const ending of ['.safetensors.next', '.safetensors']) {
      if (!(await copyIfIntact(folder, base + ending, `${target}.safetensors`, record))) continue;
      await writeFlushed(`${target}.json`, change(record));
      return record;
    }
  }
  throw new Error(
    `${join(folder, base)}.safetensors is missing or damaged: it does not match the size and hash in its .json. Fork from another point.`,
  );
}

async function copyIfIntact(
  folder: string,
  path: string,
  target: string,
  { sha256, bytes }: SealedRecord,
): Promise<boolean> {
  const copied = await copyOwnFile(folder, path, target).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  });
  if (copied?.sha256 === sha256 && copied.bytes === bytes) return true;
  await rm(target, { force: true });
  return false;
}

/** Copies a file of a run's folder, and no other that a link leads to. @returns size and SHA-256 of what was copied */
export async function copyOwnFile(folder: string, path: string, target: string): Promise<SealedRecord> {
  const handle = await openOwnFile(folder, path);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    await mkdir(dirname(target), { recursive: true });
    await replaceFile(target, async (into) => {
      for await (const piece of handle.createReadStream({ highWaterMark: pieceBytes, autoClose: false })) {
        const read = piece as Uint8Array;
        hash.update(read);
        bytes += read.byteLength;
        await into.appendFile(read);
      }
    });
  } finally {
    await handle.close();
  }
  return { sha256: hash.digest('hex'), bytes };
}
