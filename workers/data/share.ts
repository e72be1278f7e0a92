import { open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { renameOver } from '../../core/node/atomic-file.ts';
import { z } from 'zod';
import { preprocessingSchema } from '../../core/preprocessing/schema.ts';
import { readFreeBytes } from '../../core/node/disk-room.ts';
import { mapFile } from '../system/libc.ts';
import { createDataset, createSplits, mapEachSplit } from './dataset.ts';
import type { Dataset, Splits } from './dataset.ts';
import { type Field, mapExtras } from './fields.ts';
import { byteCount, reasonOf } from './sources/files.ts';

/**
 * Splits as one file or message: one process reads and decodes a data set, the others load the result.
 *
 * Layout: three uint64 (total bytes; CRC-32 of everything after it; bytes of the header), the header as JSON padded
 * with spaces, then the arrays. Every part begins at a multiple of 8 bytes. Byte order is the machine's.
 */

const prefixBytes = 24;
/** Less than the most bytes that one system call can read. */
const maximumReadBytes = 2 ** 30;

const featureTypes = { float32: Float32Array, uint8: Uint8Array };
const targetTypes = { float32: Float32Array, int32: Int32Array };
const fieldTypes = { ...featureTypes, ...targetTypes };

/** `offset` in bytes from the end of the header, `length` in elements. */
const placeSchema = z.object({ offset: z.int().min(0), length: z.int().min(0) });
const fieldPlaceSchema = placeSchema.extend({ type: z.enum(['float32', 'int32', 'uint8']) });
const fieldsSchema = z.record(z.string(), z.object({ shape: z.array(z.int()), values: fieldPlaceSchema }));
const datasetSchema = z.object({
  name: z.string(),
  featureShape: z.array(z.int()),
  featureNames: z.array(z.string()).optional(),
  categories: z.array(z.object({ start: z.int(), count: z.int() })).optional(),
  classNames: z.array(z.string()).optional(),
  classCount: z.int().optional(),
  normalization: z.object({ mean: z.array(z.number()), std: z.array(z.number()) }).optional(),
  features: placeSchema.extend({ type: z.enum(['float32', 'uint8']) }),
  targets: placeSchema.extend({ type: z.enum(['float32', 'int32']) }),
  targetShape: z.array(z.int()).optional(),
  extraInputs: fieldsSchema.optional(),
  extraTargets: fieldsSchema.optional(),
  weights: placeSchema.optional(),
  mask: placeSchema.optional(),
  lossWeights: placeSchema.optional(),
  groups: placeSchema.optional(),
  strata: placeSchema.optional(),
  spans: placeSchema.optional(),
  /** Number of samples, where the features are on disk: another process opens them itself. */
  samplesOnDisk: z.int().min(1).optional(),
  /** Samples of an epoch, where they come as a stream. */
  samplesOfStream: z.int().min(1).optional(),
});
const headerSchema = z.object({
  train: datasetSchema,
  validation: datasetSchema.optional(),
  test: datasetSchema.optional(),
  unlabelled: datasetSchema.optional(),
  preprocessing: preprocessingSchema.optional(),
  notes: z.array(z.string()).optional(),
});

type Place = z.output<typeof placeSchema>;
type FieldPlace = z.output<typeof fieldPlaceSchema>;
type DatasetHeader = z.output<typeof datasetSchema>;

/** Writes a temporary file, flushes it and renames it, so that a reader finds the whole file or none. */
export async function writeSplits(file: string, splits: Splits): Promise<void> {
  const parts = encodeSplits(splits);
  const aside = `${file}.${process.pid}.tmp`;
  try {
    const handle = await open(aside, 'w');
    try {
      for (const part of parts) await handle.writeFile(part);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await renameOver(aside, file);
  } catch (error) {
    await rm(aside, { force: true });
    const free = await readFreeBytes(dirname(file)).catch(() => null);
    throw new Error(
      `The decoded data could not be shared through ${file} (${reasonOf(error)}). It takes ` +
        `${byteCount(parts.reduce((sum, part) => sum + part.length, 0))}${free === null ? '' : `, and ${byteCount(free)} are free`}: ` +
        'make that much room there.',
      { cause: error },
    );
  }
}

/**
 * Reads splits; their arrays are views of one buffer.
 * @throws Error if the file is truncated or its checksum does not match
 */
export async function readSplits(file: string): Promise<Splits> {
  return decodeSplits(await readWhole(file), file);
}

/**
 * Like {@link readSplits}, but maps the file into memory, so that all processes share one copy. The file may be deleted
 * afterwards, but must not change.
 */
export async function mapSplits(file: string): Promise<Splits> {
  const { size } = await stat(file);
  return decodeSplits(Buffer.from(await mapFile(file, size)), file);
}

/**
 * Splits from their bytes, which must begin at a multiple of 8 bytes of their buffer; `source` names them in error
 * messages.
 */
export function decodeSplits(bytes: Buffer<ArrayBuffer>, source: string): Splits {
  const headerBytes = checkedHeaderBytes(source, bytes);
  try {
    const header = headerSchema.parse(JSON.parse(bytes.toString('utf8', prefixBytes, prefixBytes + headerBytes)));
    const { preprocessing, notes } = header;
    const splits = mapEachSplit(header, (dataset) => restore(dataset, bytes, prefixBytes + headerBytes));
    return createSplits({ ...splits, ...(preprocessing && { preprocessing }), ...(notes && { notes }) });
  } catch (error) {
    throw damaged(source, `its header does not describe its arrays (${reasonOf(error)})`, error);
  }
}

/** A data set whose arrays begin at byte `start`. */
function restore({ features, targets, ...rest }: DatasetHeader, bytes: Buffer<ArrayBuffer>, start: number): Dataset {
  const { buffer, byteOffset } = bytes;
  const { extraInputs, extraTargets, samplesOnDisk, samplesOfStream, ...others } = rest;
  const { weights, mask, lossWeights, groups, strata, spans, ...fields } = others;
  const at = ({ offset }: Place) => byteOffset + start + offset;
  const floats = (place: Place) => new Float32Array(buffer, at(place), place.length);
  const integers = (place: Place) => new Int32Array(buffer, at(place), place.length);
  const restored = (of: Record<string, { shape: number[]; values: FieldPlace }>) =>
    Object.fromEntries(
      Object.entries(of).map(([name, { shape, values }]) => [
        name,
        { shape, values: new fieldTypes[values.type](buffer, at(values), values.length) },
      ]),
    );
  return createDataset({
    ...fields,
    features: new featureTypes[features.type](buffer, at(features), features.length),
    targets: new targetTypes[targets.type](buffer, at(targets), targets.length),
    ...(samplesOnDisk !== undefined && { source: unopened(fields, samplesOnDisk, features.type) }),
    ...(samplesOfStream !== undefined && { stream: { length: samplesOfStream, open: notOpened(fields.name) } }),
    ...(extraInputs && { extraInputs: restored(extraInputs) }),
    ...(extraTargets && { extraTargets: restored(extraTargets) }),
    ...(weights && { weights: floats(weights) }),
    ...(mask && { mask: new Uint8Array(buffer, at(mask), mask.length) }),
    ...(lossWeights && { lossWeights: floats(lossWeights) }),
    ...(groups && { groups: integers(groups) }),
    ...(strata && { strata: integers(strata) }),
    ...(spans && { spans: integers(spans) }),
  });
}

/** Stands for a source that this process has not opened. */
function unopened(
  { name, featureShape }: Pick<DatasetHeader, 'name' | 'featureShape'>,
  length: number,
  type: 'float32' | 'uint8',
) {
  return {
    length,
    featureShape,
    type,
    read: () =>
      Promise.reject(new Error(`The samples of "${name}" are on disk, and this process has not opened them.`)),
  };
}

function notOpened(name: string) {
  return (): never => {
    throw new Error(`The samples of "${name}" come as a stream, and this process has not opened it.`);
  };
}

/** The parts of a file or message, in order. */
export function encodeSplits(splits: Splits): Buffer[] {
  const arrays: Buffer[] = [];
  let offset = 0;
  const place = (array: Field['values']) => {
    const entry = { type: typeOf(array), offset, length: array.length };
    const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
    const padding = Buffer.alloc(toMultipleOf8(bytes.length) - bytes.length);
    arrays.push(bytes, padding);
    offset += bytes.length + padding.length;
    return entry;
  };
  const describe = ({ source, stream, ...dataset }: Dataset) => ({
    ...dataset,
    samplesOnDisk: source?.length,
    samplesOfStream: stream?.length,
    features: place(dataset.features),
    targets: place(dataset.targets),
    // The header has places instead of arrays.
    ...mapExtras(dataset, (values) => place(values) as never),
  });
  const { preprocessing, notes } = splits;
  const json = JSON.stringify({ ...mapEachSplit(splits, describe), preprocessing, notes });
  const header = Buffer.alloc(toMultipleOf8(Buffer.byteLength(json)), ' ');
  header.write(json);
  const body = [uint64(header.length), header, ...arrays];
  return [uint64(prefixBytes + header.length + offset), uint64(checksumOf(body)), ...body];
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

/** Checks size and checksum. @returns the bytes of the header */
function checkedHeaderBytes(source: string, bytes: Buffer): number {
  if (bytes.length < prefixBytes)
    throw damaged(source, `it has ${byteCount(bytes.length)}, its first three numbers take 24`);
  const expectedBytes = Number(bytes.readBigUInt64LE(0));
  if (bytes.length !== expectedBytes) {
    throw damaged(source, `it has ${byteCount(bytes.length)}, expected ${byteCount(expectedBytes)}`);
  }
  const checksum = checksumOf([bytes.subarray(16)]);
  const expectedChecksum = Number(bytes.readBigUInt64LE(8));
  if (checksum !== expectedChecksum) throw damaged(source, `its CRC-32 is ${checksum}, expected ${expectedChecksum}`);
  return Number(bytes.readBigUInt64LE(16));
}

function damaged(source: string, finding: string, cause?: unknown): Error {
  return new Error(
    `${source} is truncated or corrupt: ${finding}. Delete it; the next start of the run writes it anew.`,
    { cause },
  );
}

function checksumOf(parts: readonly Buffer[]): number {
  return parts.reduce((checksum, part) => crc32(part, checksum), 0);
}

function typeOf(array: Float32Array | Int32Array | Uint8Array): 'float32' | 'int32' | 'uint8' {
  if (array instanceof Float32Array) return 'float32';
  return array instanceof Int32Array ? 'int32' : 'uint8';
}

function toMultipleOf8(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

/** Reads a file into a new buffer, so that the arrays in it are aligned. */
async function readWhole(file: string): Promise<Buffer<ArrayBuffer>> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.from(new ArrayBuffer(size));
    let filled = 0;
    while (filled < size) {
      const { bytesRead } = await handle.read(bytes, filled, Math.min(size - filled, maximumReadBytes));
      if (bytesRead === 0) return bytes.subarray(0, filled);
      filled += bytesRead;
    }
    return bytes;
  } finally {
    await handle.close();
  }
}
