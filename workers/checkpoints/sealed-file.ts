import { rm, stat, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { requireReadBack, type SavedPosition, type Seal, sealOf, sealSchema } from './seal.ts';
import { ASIDE_ENDING, renameFlushed, writeFileAsOnlyWriter, writeFlushed } from '../../core/node/atomic-file.ts';
import { flushFolder } from '../../core/node/make-folder.ts';
import { explainFileError, unlessMissing } from '../../core/node/file-error.ts';
import { ForeignEntryError, readOwnBytes, readOwnText } from '../../core/node/own-files.ts';

/**
 * A pair of files, `<base>.safetensors` and `<base>.json`, replaced together: the record (`.json`) holds the SHA-256
 * and the size of the data, and the data is valid only where both match.
 *
 * Two files cannot be renamed in one step, so a replacement takes three
 *
 *     1. new data  -> <base>.safetensors.next     flushed, read back and compared; the old pair is untouched
 *     2. new record -> <base>.json                atomic: from here on the new pair is valid
 *     3. <base>.safetensors.next -> <base>.safetensors
 *
 * A crash before 2 leaves the old pair, and a `.next` that matches no record. A crash between 2 and 3 leaves a record
 * whose data is still called `.next`: readers find it there, and the next write renames it before it replaces `.next`.
 * At every moment at least one whole pair exists.
 */

export interface SealedFile<R extends Seal> {
  record: R;
  content: Uint8Array;
}

/**
 * Writes or replaces the pair at `base` (a path without extension); `record` holds the seal of `content`, which is in
 * the safetensors format.
 *
 * @throws when the data cannot be written, or reads back differently; the old pair stays
 */
export async function writeSealed(base: string, content: Uint8Array, record: Seal & SavedPosition): Promise<void> {
  const { next } = pathsOf(base);
  await finishInterruptedWrite(base);
  await writeFlushed(next, content);
  await requireReadBack(next, content, record);
  await publish(base, record);
}

/**
 * Like {@link writeSealed}, for a writer that may have lost its right to write meanwhile: until `mayPublish` has
 * answered, the data lies in a file of another name, which no other process writes.
 * @returns whether the pair was written
 */
export async function writeSealedIf(
  base: string,
  content: Uint8Array,
  record: Seal & SavedPosition,
  mayPublish: () => Promise<boolean>,
): Promise<boolean> {
  const { next } = pathsOf(base);
  const aside = `${next}.${process.pid}${ASIDE_ENDING}`;
  await writeFlushed(aside, content);
  await requireReadBack(aside, content, record);
  const isAllowed = await mayPublish();
  if (!isAllowed) {
    await rm(aside, { force: true });
    return false;
  }
  await finishInterruptedWrite(base);
  await renameFlushed(aside, next);
  await publish(base, record);
  return true;
}

/** Makes the written data valid. */
async function publish(base: string, record: Seal & SavedPosition): Promise<void> {
  const { data, next, json } = pathsOf(base);
  await writeFileAsOnlyWriter(json, `${toJson(record, 2)}\n`);
  await renameFlushed(next, data);
}

/**
 * Reads the pair at `base` and checks the data against the record.
 *
 * @throws naming file, expected and actual size and hash, when no data matches the record.
 */
export async function readSealed<R extends Seal>(base: string, schema: z.ZodType<R>): Promise<SealedFile<R>> {
  const { data, next, json } = pathsOf(base);
  const record = await readRecord(json, schema);
  // `.next` first: a writer at step 3 moves it to where the second look finds it, so the data is never missed.
  const content = (await readMatching(next, record)) ?? (await readMatching(data, record));
  if (content !== null) return { record, content };
  const current = await readRecord(json, schema);
  if (current.sha256 !== record.sha256) return readSealed(base, schema); // replaced while it was being read
  throw new Error(await describeMismatch(data, record));
}

/** Removes the pair, or what is left of it: the record first, so that it never describes removed data. */
export async function removeSealed(base: string): Promise<void> {
  const { data, next, json } = pathsOf(base);
  await remove(json);
  await unlessMissing(flushFolder(dirname(base)));
  await remove(next);
  await remove(data);
}

/** @throws Error that names what stands there, such as a folder, and the remedy */
async function remove(path: string): Promise<void> {
  await unlessMissing(unlink(path)).catch((error: unknown) => {
    throw explainFileError(error, path, 'remove');
  });
}

/** Reads and checks a record. @throws naming the file when it is missing, not JSON, or does not fit `schema`. */
export async function readRecord<R>(path: string, schema: z.ZodType<R>): Promise<R> {
  const text = await readOwnText(dirname(path), basename(path));
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(
      `${path} is not a valid record: ${reason}\nRestore it from a copy, or remove it together with its data.`,
      { cause: error },
    );
  }
}

function pathsOf(base: string): { data: string; next: string; json: string } {
  return { data: `${base}.safetensors`, next: `${base}.safetensors.next`, json: `${base}.json` };
}

async function finishInterruptedWrite(base: string): Promise<void> {
  const { data, next, json } = pathsOf(base);
  // A record that cannot be read tells of no whole pair, so nothing is lost with it.
  const record = await readRecord(json, sealSchema).catch(() => null);
  if (record === null || (await readMatching(next, record)) === null) return;
  await renameFlushed(next, data);
}

async function readMatching(path: string, seal: Seal): Promise<Uint8Array | null> {
  // The size detects most mismatches without reading the file.
  if ((await unlessMissing(stat(path)))?.size !== seal.bytes) return null;
  const content = await unlessMissing(readOwnBytes(dirname(path), basename(path))).catch(unlessForeign);
  return content !== null && sealOf(content).sha256 === seal.sha256 ? content : null;
}

/** A link or a pipe is no data of the run. */
function unlessForeign(error: unknown): null {
  if (error instanceof ForeignEntryError) return null;
  throw error;
}

async function describeMismatch(path: string, expected: Seal): Promise<string> {
  const remedy = 'Restore it from a copy, or remove it and its .json.';
  const content = await unlessMissing(readOwnBytes(dirname(path), basename(path)));
  if (content === null) return `${path} is missing, but its .json exists. ${remedy}`;
  const actual = sealOf(content);
  return (
    `${path} does not match its .json: expected ${expected.bytes} bytes with SHA-256 ${expected.sha256}, ` +
    `found ${actual.bytes} bytes with SHA-256 ${actual.sha256}: it was damaged or changed. ${remedy}`
  );
}
