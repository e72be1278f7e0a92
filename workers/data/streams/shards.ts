import { openSync, read } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { readNpyHeader } from '../npy-header.ts';
import type { SampleSource } from './sources.ts';

/** What raw files hold: samples one after the other, in the byte order of the machine. */
export interface RawShape {
  /** Shape of one sample. */
  featureShape: readonly number[];
  type: SampleSource['type'];
}

interface Shard {
  file: string;
  /** Open until the process ends. */
  descriptor: number;
  /** Byte at which the first sample begins. */
  start: number;
  /** Index of its first sample among all. */
  first: number;
  samples: number;
}

const readAt = promisify(read);

/** Reads of samples that are under way at a time. */
const simultaneous = 16;

/**
 * Samples in several files of arrays, one after the other: `.npy` of uint8 or float32 (in C order, axis 0 counts the
 * samples), or raw files, for which `raw` is needed. The files stay open, and must not change.
 * @throws Error that names the file and what does not fit
 */
export async function arrayShards(files: readonly string[], raw?: RawShape): Promise<SampleSource> {
  if (files.length === 0) throw new Error('arrayShards needs at least one file.');
  const shards: Shard[] = [];
  let shape: RawShape | null = null;
  for (const file of files) {
    const own = await describeFile(file, raw);
    shape ??= own;
    if (own.type !== shape.type || own.featureShape.join() !== shape.featureShape.join()) {
      throw new Error(
        `${file} has samples of shape [${own.featureShape.join(', ')}] and type ${own.type}, ${files[0]} of shape ` +
          `[${shape.featureShape.join(', ')}] and type ${shape.type}. All shards need the same.`,
      );
    }
    const last = shards.at(-1);
    const first = last ? last.first + last.samples : 0;
    shards.push({ file, descriptor: -1, start: own.start, samples: own.samples, first });
  }
  for (const shard of shards) shard.descriptor = openSync(shard.file, 'r');
  const { featureShape, type } = shape as RawShape;
  const length = shards.reduce((sum, { samples }) => sum + samples, 0);
  return { length, featureShape, type, read: (indices) => readRows(shards, { featureShape, type }, indices) };
}

async function describeFile(file: string, raw?: RawShape): ReturnType<typeof describe> {
  const handle = await open(file);
  try {
    return await describe(file, handle, raw);
  } finally {
    await handle.close();
  }
}

async function describe(
  file: string,
  handle: FileHandle,
  raw?: RawShape,
): Promise<RawShape & { start: number; samples: number }> {
  const { size } = await handle.stat();
  if (raw !== undefined) {
    const samples = size / bytesOf(raw);
    if (Number.isInteger(samples) && samples > 0) return { ...raw, start: 0, samples };
    throw new Error(
      `${file} has ${size} bytes, which are not whole samples of ${bytesOf(raw)} bytes. Correct featureShape or type.`,
    );
  }
  const { descr, isFortran, shape, start } = await readNpyHeader(file, handle);
  const type = descr === '|u1' ? 'uint8' : descr === '<f4' ? 'float32' : null;
  const [samples = 0, ...featureShape] = shape;
  if (type === null || isFortran || samples === 0) {
    throw new Error(
      `${file} holds an array of type ${descr}, shape ` +
        `(${shape.join(', ')})${isFortran ? ' in Fortran order' : ''}. Samples are read from disk as uint8 or ` +
        'little-endian float32 in C order: convert it with numpy.ascontiguousarray and astype.',
    );
  }
  const expected = start + samples * bytesOf({ featureShape, type });
  if (size === expected) return { featureShape, type, start, samples };
  throw new Error(`${file} is truncated or corrupt: it has ${size} bytes, expected ${expected}. Write it again.`);
}

function bytesOf({ featureShape, type }: RawShape): number {
  return featureShape.reduce((size, dimension) => size * dimension, type === 'uint8' ? 1 : 4);
}

async function readRows(shards: readonly Shard[], shape: RawShape, indices: Int32Array) {
  const rowBytes = bytesOf(shape);
  const bytes = new Uint8Array(indices.length * rowBytes);
  let next = 0;
  const readOthers = async (): Promise<void> => {
    for (let at = next++; at < indices.length; at = next++) {
      await readRow(shards, indices[at], bytes.subarray(at * rowBytes, (at + 1) * rowBytes));
    }
  };
  await Promise.all(Array.from({ length: Math.min(simultaneous, indices.length) }, readOthers));
  return shape.type === 'uint8' ? bytes : new Float32Array(bytes.buffer);
}

async function readRow(shards: readonly Shard[], index: number, into: Uint8Array): Promise<void> {
  const shard = shards.find(({ first, samples }) => index >= first && index < first + samples);
  if (shard === undefined) throw new RangeError(`Sample ${index} does not exist in the shards.`);
  const start = shard.start + (index - shard.first) * into.length;
  for (let done = 0; done < into.length;) {
    const { bytesRead } = await readAt(shard.descriptor, into, done, into.length - done, start + done);
    if (bytesRead === 0)
      throw new Error(`${shard.file} ends within sample ${index}: it was changed while it was read.`);
    done += bytesRead;
  }
}
