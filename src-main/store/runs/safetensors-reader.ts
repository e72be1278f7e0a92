import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { explainFileError } from '../../../core/node/file-error.ts';
import { readFully } from '../../../core/node/read-lines.ts';
import {
  decodeHeader,
  type Header,
  lengthBytes,
  readHeaderLength,
  SafetensorsError,
  type TensorEntry,
} from '../../../core/safetensors/header.ts';
import { openOwnFile } from '../../../core/node/own-files.ts';
import { type NamedTensor, tensorOf } from '../../../core/safetensors/safetensors.ts';

/** Predictions and targets are float32 or int32 (`docs/formats.md`); only workers open checkpoints. */
export type StoredTensor = Pick<Extract<NamedTensor, { dtype: 'F32' | 'I32' }>, 'shape' | 'data'>;

/** The metadata of a safetensors file, without reading its tensors. @param path relative to the run's folder */
export async function readTensorMetadata(folder: string, path: string): Promise<Record<string, string>> {
  return withFile(folder, path, async (handle) => {
    const { header } = await readHeader(handle);
    return header.metadata;
  });
}

/**
 * The tensors of a safetensors file, by name.
 * @param path relative to the run's folder
 * @param names only these tensors; absent: all
 * @throws Error where it is damaged
 */
export async function readTensors(
  folder: string,
  path: string,
  names?: readonly string[],
): Promise<{ tensors: Map<string, StoredTensor>; metadata: Record<string, string> }> {
  return withFile(folder, path, async (handle) => {
    const { header, dataStart } = await readHeader(handle);
    const tensors = new Map<string, StoredTensor>();
    for (const entry of header.entries) {
      if (names === undefined || names.includes(entry.name)) {
        tensors.set(entry.name, predictionOf(await readTensor(handle, entry, dataStart), entry));
      }
    }
    return { tensors, metadata: header.metadata };
  });
}

/**
 * The evaluations that a rank's state holds, by metric: `[3, E]` epochs, steps and values.
 * @param path of the state's tensors, relative to the run's folder
 * @throws Error where it is damaged
 */
export async function readHistory(folder: string, path: string): Promise<Map<string, Float64Array>> {
  const prefix = 'history/';
  return withFile(folder, path, async (handle) => {
    const { header, dataStart } = await readHeader(handle);
    const history = new Map<string, Float64Array>();
    for (const entry of header.entries.filter(({ name }) => name.startsWith(prefix))) {
      const tensor = await readTensor(handle, entry, dataStart);
      if (tensor.dtype === 'F64') history.set(entry.name.slice(prefix.length), tensor.data);
    }
    return history;
  });
}

async function withFile<T>(folder: string, path: string, read: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await openOwnFile(folder, path);
  try {
    return await read(handle);
  } catch (error) {
    const full = join(folder, path);
    throw error instanceof SafetensorsError ? damaged(full, error) : explainFileError(error, full, 'read');
  } finally {
    await handle.close();
  }
}

async function readHeader(handle: FileHandle): Promise<{ header: Header; dataStart: number }> {
  const { size } = await handle.stat();
  const start = await readBytes(handle, 0, Math.min(size, lengthBytes));
  const headerBytes = readHeaderLength(start, size);
  const dataStart = lengthBytes + headerBytes;
  const header = decodeHeader(await readBytes(handle, lengthBytes, headerBytes), size - dataStart);
  return { header, dataStart };
}

async function readTensor(handle: FileHandle, entry: TensorEntry, dataStart: number): Promise<NamedTensor> {
  const bytes = await readBytes(handle, dataStart + entry.begin, entry.end - entry.begin);
  return tensorOf(entry, bytes.buffer);
}

function predictionOf(tensor: NamedTensor, entry: TensorEntry): StoredTensor {
  if (tensor.dtype === 'F32' || tensor.dtype === 'I32') return { shape: tensor.shape, data: tensor.data };
  throw new SafetensorsError(`tensor "${entry.name}" has type ${entry.dtype}; predictions are F32 or I32`);
}

async function readBytes(handle: FileHandle, position: number, count: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(count);
  const found = await readFully(handle, bytes, position);
  if (found === count) return bytes;
  throw new SafetensorsError(
    `it was truncated while it was read: bytes ${position} to ${position + count} were expected, only ${found} ` +
      'are left',
  );
}

function damaged(path: string, error: SafetensorsError): Error {
  return new Error(
    `${path} is not a valid safetensors file of predictions: ${error.reason}. Remove it, or restore it from a copy.`,
    { cause: error },
  );
}
