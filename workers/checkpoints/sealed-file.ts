import { hash } from 'node:crypto';
import { readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { type SavedPosition, requireReadBack } from './read-back.ts';
import { flushFolder, renameFlushed, writeFileAsOnlyWriter, writeFlushed } from '../../core/node/atomic-file.ts';
import { unlessMissing } from '../../core/node/file-error.ts';

/**
 * A pair of files, `<base>.safetensors` and `<base>.json`, replaced as one: the record (`.json`) holds the SHA-256 and the
 * size of the data, and the data counts only where they fit.
 *
 * Two files cannot be renamed in one step, so replacing goes
 *
 *     1. new data  -> <base>.safetensors.next     flushed, read back and compared; the old pair is untouched
 *     2. new record -> <base>.json                atomic: from here on the new pair counts
 *     3. <base>.safetensors.next -> <base>.safetensors
 *
 * A crash before 2 leaves the old pair, and a `.next` that fits no record. A crash between 2 and 3 leaves a record whose
 * data is still called `.next`: readers find it there, and the next write renames it before it writes over `.next`.
 * At no moment is there less than one whole pair.
 */

const sealSchema = z.object({ sha256: z.string(), bytes: z.int() });
export type Seal = z.output<typeof sealSchema>;

export interface SealedFile<R extends Seal> {
  record: R;
  content: Uint8Array;
}

export function sealOf(content: Uint8Array): Seal {
  return { sha256: hash('sha256', content, 'hex'), bytes: content.byteLength };
}

/**
 * Writes or replaces the pair at `base` (a path without extension); `record` carries the seal of `content`, which is in the safetensors format.
 *
 * @throws where the data cannot be written, or reads back otherwise than it was written; the old pair stays
 */
export async function writeSealed(base: string, content: Uint8Array, record: Seal & SavedPosition): Promise<void> {
  const { data, next, json } = pathsOf(base);
  await finishInterruptedWrite(base);
  await writeFlushed(next, content);
  await requireReadBack(next, content, record);
  await writeFileAsOnlyWriter(json, `${toJson(record, 2)}\n`);
  await renameFlushed(next, data);
}

/**
 * Reads the pair at `base` and checks the data against the record.
 *
 * @throws naming file, expected and actual size and hash, when no data fits the record.
 */
export async function readSealed<R extends Seal>(base: string, schema: z.ZodType<R>): Promise<SealedFile<R>> {
  const { data, next, json } = pathsOf(base);
  const record = await readRecord(json, schema);
  // `.next` first: a writer at step 3 moves it to where the second look finds it, so the data is never missed.
  const content = (await readFitting(next, record)) ?? (await readFitting(data, record));
  if (content !== null) return { record, content };
  const current = await readRecord(json, schema);
  if (current.sha256 !== record.sha256) return readSealed(base, schema); // replaced while it was being read
  throw new Error(await describeMismatch(data, record));
}

/** Removes the pair, or what is left of it; the record goes first, so that it never speaks of data that is gone. */
export async function removeSealed(base: string): Promise<void> {
  const { data, next, json } = pathsOf(base);
  await rm(json, { force: true });
  await unlessMissing(flushFolder(dirname(base)));
  await rm(next, { force: true });
  await rm(data, { force: true });
}

/** Reads and checks a record. @throws naming the file when it is missing, not JSON, or not what `schema` asks for. */
export async function readRecord<R>(path: string, schema: z.ZodType<R>): Promise<R> {
  const text = await readFile(path, 'utf8');
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
  const record = await unlessMissing(readRecord(json, sealSchema));
  if (record === null || (await readFitting(next, record)) === null) return;
  await renameFlushed(next, data);
}

async function readFitting(path: string, seal: Seal): Promise<Uint8Array | null> {
  // The size tells most misfits apart without reading them.
  if ((await unlessMissing(stat(path)))?.size !== seal.bytes) return null;
  const content = await unlessMissing(readFile(path));
  return content !== null && sealOf(content).sha256 === seal.sha256 ? content : null;
}

async function describeMismatch(path: string, expected: Seal): Promise<string> {
  const remedy = 'Restore it from a copy, or remove it together with its .json to do without it.';
  const content = await unlessMissing(readFile(path));
  if (content === null) return `${path} is missing, though its .json is there. ${remedy}`;
  const actual = sealOf(content);
  return (
    `${path} does not fit its .json: expected ${expected.bytes} bytes with SHA-256 ${expected.sha256}, ` +
    `found ${actual.bytes} bytes with SHA-256 ${actual.sha256}: it was damaged or changed. ${remedy}`
  );
}
