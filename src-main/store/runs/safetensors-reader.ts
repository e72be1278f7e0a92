import { open } from 'node:fs/promises';
import { z } from 'zod';
import { explainFileError } from '../../../core/node/file-error.ts';

/** The types of predictions and targets (`docs/formats.md`); checkpoints are only ever opened by workers. */
const arrayTypes = { F32: Float32Array, I32: Int32Array } as const;
const lengthBytes = 8;

const headerSchema = z.object({ __metadata__: z.record(z.string(), z.string()).default({}) }).catchall(
  z.object({
    dtype: z.enum(['F32', 'I32']),
    shape: z.array(z.int().min(0)),
    data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
  }),
);

export interface StoredTensor {
  shape: number[];
  data: Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer>;
}

/** The metadata of a safetensors file, without reading its tensors. */
export async function readTensorMetadata(path: string): Promise<Record<string, string>> {
  const { metadata } = await readParts(path, false);
  return metadata;
}

/** The tensors of a safetensors file, by name. @throws Error where it is damaged */
export async function readTensors(
  path: string,
): Promise<{ tensors: Map<string, StoredTensor>; metadata: Record<string, string> }> {
  return readParts(path, true);
}

async function readParts(path: string, withTensors: boolean) {
  const handle = await open(path).catch((error: unknown) => {
    throw explainFileError(error, path, 'read');
  });
  try {
    const { size } = await handle.stat();
    const prefix = Buffer.alloc(lengthBytes);
    await handle.read(prefix, 0, lengthBytes, 0);
    const headerBytes = Number(prefix.readBigUInt64LE());
    const dataStart = lengthBytes + headerBytes;
    if (size < lengthBytes || dataStart > size) throw damaged(path, 'it is cut short');
    const text = Buffer.alloc(headerBytes);
    await handle.read(text, 0, headerBytes, lengthBytes);
    const { __metadata__: metadata, ...entries } = parseHeader(text.toString(), path);
    const tensors = new Map<string, StoredTensor>();
    for (const [name, { dtype, shape, data_offsets: offsets }] of Object.entries(withTensors ? entries : {})) {
      const [begin, end] = offsets;
      const bytes = 4 * shape.reduce((product, length) => product * length, 1);
      if (end - begin !== bytes || dataStart + end > size) throw damaged(path, `tensor "${name}" has a wrong place`);
      const buffer = new ArrayBuffer(bytes);
      await handle.read(new Uint8Array(buffer), 0, bytes, dataStart + begin);
      tensors.set(name, { shape, data: new arrayTypes[dtype](buffer) });
    }
    return { tensors, metadata };
  } finally {
    await handle.close();
  }
}

function parseHeader(text: string, path: string): z.output<typeof headerSchema> {
  try {
    return headerSchema.parse(JSON.parse(text));
  } catch (error) {
    throw damaged(path, 'its header is not what Tutti writes', error);
  }
}

function damaged(path: string, what: string, cause?: unknown): Error {
  return new Error(`${path} is no safetensors file of predictions: ${what}. Remove it, or restore it from a copy.`, {
    cause,
  });
}
