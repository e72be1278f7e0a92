import { crc32, inflateRawSync } from 'node:zlib';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { type ArrayFormat, dataFormatOf, endingsWith } from '../../core/preprocessing/data-formats.ts';
import { decodeSafetensors } from '../../core/safetensors/safetensors.ts';
import { reasonOf } from './sources/files.ts';
import { type FileArray, parseNpy } from './npy.ts';
import { arrayShards } from './streams/shards.ts';
import type { SampleSource } from './streams/sources.ts';

/** Reads the files of a format. */
interface ArrayReader {
  parse(bytes: Buffer, file: string): Record<string, FileArray>;
  /** The samples of a file, read as they are asked for; null where a file has a form that only `parse` reads. */
  open?(file: string): Promise<SampleSource | null>;
}

const readers: Record<ArrayFormat, ArrayReader> = {
  'NumPy array': {
    parse: (bytes, file) => ({ [basename(file, extname(file))]: parseNpy(bytes, file) }),
    open: (file) => arrayShards([file]).catch(() => null),
  },
  'NumPy arrays': { parse: parseNpz },
  safetensors: { parse: parseSafetensors },
};

/**
 * Reads arrays by name from NumPy's `.npy` (one array, named like the file) and `.npz`, and from `.safetensors`. Floats
 * become float32, integers int32, bytes and booleans uint8, all in C order.
 * @throws Error that names file and array, and what does not fit
 */
export async function readArrays(file: string): Promise<Record<string, FileArray>> {
  return parseArrays(await readFile(file), file);
}

/** Like {@link readArrays}, from bytes; `file` is their name in messages, and its ending gives the format. */
export function parseArrays(bytes: Buffer, file: string): Record<string, FileArray> {
  const format = dataFormatOf(file);
  if (format?.holds === 'arrays') return readers[format.name].parse(bytes, file);
  const endings = new Intl.ListFormat('en-GB').format(endingsWith('arrays'));
  throw new Error(`${file}: arrays are read from ${endings}. Tables: readTable(file).`);
}

/**
 * The samples of a file's only array, which stay on disk; null where the whole file has to be read.
 * @throws Error if the file cannot be opened
 */
export async function openSamples(file: string): Promise<SampleSource | null> {
  const format = dataFormatOf(file);
  if (format?.holds !== 'arrays') return null;
  return (await readers[format.name].open?.(file)) ?? null;
}

function parseNpz(bytes: Buffer, file: string): Record<string, FileArray> {
  const arrays = new Map<string, FileArray>();
  try {
    for (const { name, bytes: own } of readZip(bytes)) {
      arrays.set(name.replace(/\.npy$/, ''), parseNpy(own, `${file}, ${name}`));
    }
  } catch (error) {
    throw new Error(`${file} cannot be read: ${reasonOf(error)}. Write it again with numpy.savez.`, { cause: error });
  }
  return Object.fromEntries(arrays);
}

function parseSafetensors(bytes: Buffer, file: string): Record<string, FileArray> {
  const { tensors } = decodeSafetensors(bytes);
  return Object.fromEntries(
    tensors.map(({ name, shape, data, dtype }) => {
      if (data instanceof Float32Array || data instanceof Int32Array || data instanceof Uint8Array) {
        return [name, { shape, values: data }];
      }
      throw new Error(`${file}: "${name}" is of type ${dtype}; F32, I32, U8 and BOOL are read. Convert it.`);
    }),
  );
}

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const localSignature = 0x04034b50;
const endBytes = 22;
const mostComment = 2 ** 16;
/** No more is unpacked of one archive. */
const mostBytes = 2 ** 32;

/** A file in an archive. */
interface ZipEntry {
  name: string;
  bytes: Uint8Array;
}

/**
 * Reads the files of a ZIP archive, stored or deflated, as NumPy writes them; each is checked by its CRC-32. Sizes come
 * from the archive's directory, and nothing is unpacked beyond them.
 *
 * Source: PKWARE, "APPNOTE.TXT - .ZIP file format specification", 6.3.
 * @throws Error that says what is damaged, or needs ZIP64
 */
function* readZip(archive: Buffer): Generator<ZipEntry> {
  const end = findEnd(archive);
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  let total = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > archive.length || archive.readUInt32LE(at) !== entrySignature)
      throw new Error(`entry ${i} is missing`);
    const nameBytes = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + nameBytes);
    total += archive.readUInt32LE(at + 24);
    if (total > mostBytes) throw new Error('it holds more than 4 GiB');
    yield { name, bytes: unpack(archive, at, name) };
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
}

function findEnd(archive: Buffer): number {
  for (let at = archive.length - endBytes; at >= Math.max(0, archive.length - endBytes - mostComment); at--) {
    if (archive.readUInt32LE(at) === endSignature) return at;
  }
  throw new Error('it has no directory at its end');
}

function unpack(archive: Buffer, entry: number, name: string): Uint8Array {
  const method = archive.readUInt16LE(entry + 10);
  const checksum = archive.readUInt32LE(entry + 16);
  const packed = archive.readUInt32LE(entry + 20);
  const size = archive.readUInt32LE(entry + 24);
  const local = archive.readUInt32LE(entry + 42);
  if (local + 30 > archive.length || archive.readUInt32LE(local) !== localSignature)
    throw new Error(`${name} is not where it should be`);
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  if (start + packed > archive.length)
    throw new Error(`${name} needs ${packed} bytes from ${start} of ${archive.length}`);
  const stored = archive.subarray(start, start + packed);
  if (method !== 0 && method !== 8) throw new Error(`${name} is compressed by method ${method}; only deflate is read`);
  const bytes = method === 0 ? stored : inflateRawSync(stored, { maxOutputLength: Math.max(size, 1) });
  if (bytes.length !== size || crc32(bytes) !== checksum) throw new Error(`${name} does not match its size and CRC-32`);
  return bytes;
}
