import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { decodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { reasonOf } from '../sources/files.ts';
import { type FileArray, parseNpy } from './npy.ts';
import { readZip } from './zip.ts';

/**
 * Reads arrays by name from NumPy's `.npy` (one array, named like the file) and `.npz`, and from `.safetensors`. Floats become float32, integers
 * int32, bytes and booleans uint8, all in C order.
 * @throws Error that names file and array, and what does not fit
 */
export async function readArrays(file: string): Promise<Record<string, FileArray>> {
  return parseArrays(await readFile(file), file);
}

/** Like {@link readArrays}, from bytes; `file` is their name in messages, and its ending gives the format. */
export function parseArrays(bytes: Buffer, file: string): Record<string, FileArray> {
  const ending = extname(file).toLowerCase();
  if (ending === '.npy') return { [basename(file, extname(file))]: parseNpy(bytes, file) };
  if (ending === '.npz') return parseNpz(bytes, file);
  if (ending === '.safetensors') return parseSafetensors(bytes, file);
  throw new Error(`${file}: arrays are read from .npy, .npz and .safetensors. Tables: readTable(file).`);
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
