import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';
import { z } from 'zod';
import { errorCode, explainFileError } from '../../core/node/file-error.ts';
import { flushFolder, makeFolder } from '../../core/node/make-folder.ts';
import { messageOf } from '../../core/text/errors.ts';
import type { RunArchive } from './run-archive.ts';

/** A file that was unpacked. */
interface Unpacked {
  bytes: number;
  sha256: string;
  /** The text of the small files that say what others must be; null for all others. */
  text: string | null;
}

/** The record of a checkpoint or state, of which only what it says of its weights is read here. */
const weightsSchema = z.object({ sha256: z.string(), bytes: z.int() });
/** A record of weights is smaller than this. */
const maximumRecordBytes = 2 ** 24;

/** The text of a small file. @throws Error if it is larger than `maximumBytes`, or damaged */
export async function readEntry(zip: ZipFile, path: string, entry: Entry, maximumBytes: number): Promise<string> {
  if (entry.uncompressedSize > maximumBytes)
    throw new Error(`${path} has ${entry.uncompressedSize} bytes, more than the ${maximumBytes} that it may have.`);
  const pieces: Uint8Array[] = [];
  for await (const piece of checked(zip, path, entry)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/**
 * Unpacks the files of a run, but for its record, into a new folder, and flushes them to the disk. Compares each with
 * its size and CRC-32 in the ZIP, and weights and architectures with the SHA-256 that the run keeps of them.
 * @throws Error that names the damaged file
 */
export async function unpackRun({ zip, files }: RunArchive, folder: string): Promise<void> {
  const unpacked = new Map<string, Unpacked>();
  for (const [path, entry] of files) {
    if (path !== 'run.json') unpacked.set(path, await unpackFile(zip, path, entry, folder));
  }
  const folders = new Set([...unpacked.keys()].map((path) => dirname(join(folder, path))));
  for (const holder of folders) await flushFolder(holder);
  for (const [path, file] of unpacked) checkHash(path, file, unpacked);
}

async function unpackFile(zip: ZipFile, path: string, entry: Entry, folder: string): Promise<Unpacked> {
  const target = join(folder, path);
  try {
    await makeFolder(dirname(target));
    const handle = await open(target, 'wx');
    try {
      const hash = createHash('sha256');
      const pieces: Uint8Array[] | null =
        isWeightsRecord(path) && entry.uncompressedSize <= maximumRecordBytes ? [] : null;
      let bytes = 0;
      for await (const piece of checked(zip, path, entry)) {
        await handle.writeFile(piece);
        hash.update(piece);
        pieces?.push(piece);
        bytes += piece.length;
      }
      await handle.sync();
      return { bytes, sha256: hash.digest('hex'), text: pieces === null ? null : Buffer.concat(pieces).toString() };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw explainFileError(error, target, 'write', entry.uncompressedSize);
  }
}

/**
 * The content of a file.
 * @throws Error, at the latest after its last piece, if it is not what the ZIP's directory says
 */
async function* checked(zip: ZipFile, path: string, entry: Entry): AsyncGenerator<Uint8Array> {
  let sum = 0;
  try {
    // yauzl compares the size while it reads, so that nothing larger than announced is written.
    for await (const piece of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Uint8Array>) {
      sum = crc32(piece, sum);
      yield piece;
    }
  } catch (cause) {
    if (errorCode(cause)?.startsWith('Z_') === false) throw cause;
    throw damaged(path, messageOf(cause), cause);
  }
  if (sum !== entry.crc32) throw damaged(path, 'its CRC-32 is not the one in the ZIP');
}

function damaged(path: string, reason: string, cause?: unknown): Error {
  return new Error(`${path} in it is damaged: ${reason}. Copy or download the file again, or export the run again.`, {
    cause,
  });
}

function isWeightsRecord(path: string): boolean {
  return /^(attempts\/\d+\/)?(checkpoints|state|origin)\/.+\.json$/.test(path);
}

function checkHash(path: string, { sha256, text }: Unpacked, others: ReadonlyMap<string, Unpacked>): void {
  const model = /^models\/.+\/([\da-f]{64})\.json$/.exec(path);
  if (model !== null && model[1] !== sha256) throw damaged(path, 'its SHA-256 is not the one in its name');
  if (text === null) return;
  const record = weightsSchema.safeParse(parseJson(text));
  if (!record.success) throw damaged(path, 'it is no record of weights');
  const base = path.slice(0, -'.json'.length);
  // A save that was interrupted leaves its weights under `.next`. Readers ignore a record without weights.
  const weights = ['.safetensors', '.safetensors.next'].flatMap((ending) => others.get(base + ending) ?? []);
  const { bytes } = record.data;
  if (weights.length === 0 || weights.some((file) => file.sha256 === record.data.sha256 && file.bytes === bytes))
    return;
  throw damaged(`${base}.safetensors`, 'its size or SHA-256 is not the one in its .json');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
