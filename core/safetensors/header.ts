import { z } from 'zod';
import { decodeUtf8, encodeUtf8 } from '../text/host.ts';

/**
 * The header of the safetensors file format (https://huggingface.co/docs/safetensors, "Format"). PyTorch, JAX and NumPy
 * read the format. A file holds 8 bytes with the header's length (unsigned, little-endian), a JSON header padded with
 * spaces to a multiple of 8, then the tensors' values, little-endian and in row-major order, without holes.
 */

export const tensorArrays = {
  I64: BigInt64Array,
  F64: Float64Array,
  F32: Float32Array,
  I32: Int32Array,
  U8: Uint8Array,
} as const;

export type TensorDtype = keyof typeof tensorArrays;

/** Bytes in front of the header, which hold its length. */
export const lengthBytes = 8;
/** The limit of the reference implementation. */
const maximumHeaderBytes = 100_000_000;
const metadataKey = '__metadata__';
/** The order in which the reference implementation lays out types: the widest first, so that all values are aligned. */
const dtypeOrder = Object.keys(tensorArrays);

const entrySchema = z.strictObject({
  dtype: z.string(),
  shape: z.array(z.int().min(0)),
  data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
});
const metadataSchema = z.record(z.string(), z.string());

/** Where a tensor lies: bytes `begin` to `end` of the data, which follows the header. */
export interface TensorEntry {
  name: string;
  dtype: TensorDtype;
  shape: number[];
  begin: number;
  end: number;
}

export interface Header {
  /** The tensors in the order of their data, without overlap or hole. */
  entries: TensorEntry[];
  metadata: Record<string, string>;
}

/** A file that is not well-formed; `reason` says where. */
export class SafetensorsError extends Error {
  override name = 'SafetensorsError';
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    super(`Not a valid safetensors file: ${reason}.`, { cause });
    this.reason = reason;
  }
}

/** A tensor that is still to be laid out. */
type TensorToPlace = Pick<TensorEntry, 'name' | 'dtype'> & {
  shape: readonly number[];
  data: { length: number; byteLength: number };
};

/** Tensors in the order of the reference implementation: by type, then by name. */
export function inFileOrder<T extends TensorToPlace>(tensors: readonly T[]): T[] {
  return tensors.toSorted(
    (a, b) => dtypeOrder.indexOf(a.dtype) - dtypeOrder.indexOf(b.dtype) || (a.name < b.name ? -1 : 1),
  );
}

/**
 * The length and the header of a file whose data holds `tensors` in this order.
 * @throws on a name that is reserved or used twice, and on a shape that does not fit the number of values
 */
export function encodeHeader(
  tensors: readonly TensorToPlace[],
  metadata: Readonly<Record<string, string>>,
): Uint8Array<ArrayBuffer> {
  checkNames(tensors);
  let offset = 0;
  const entries = tensors.map(({ name, dtype, shape, data }): [string, z.input<typeof entrySchema>] => {
    if (elementCount(shape) !== data.length) {
      throw new Error(
        `Tensor "${name}" has ${data.length} values, but its shape [${shape.join(', ')}] holds ${elementCount(shape)}.`,
      );
    }
    const begin = offset;
    offset += data.byteLength;
    return [name, { dtype, shape: [...shape], data_offsets: [begin, offset] }];
  });
  const described = Object.keys(metadata).length > 0 ? [[metadataKey, metadata] as const] : [];
  return withLength(encodeUtf8(JSON.stringify(Object.fromEntries([...described, ...entries]))));
}

/**
 * The number of bytes of the header.
 * @param start the first 8 bytes of the file, or fewer where it has fewer
 * @param fileBytes the size of the file
 */
export function readHeaderLength(start: Uint8Array, fileBytes: number): number {
  if (start.byteLength < lengthBytes || fileBytes < lengthBytes) {
    throw new SafetensorsError(`${Math.min(start.byteLength, fileBytes)} bytes are too few for the header's length`);
  }
  const headerBytes = Number(new DataView(start.buffer, start.byteOffset).getBigUint64(0, true));
  if (headerBytes > maximumHeaderBytes) {
    throw new SafetensorsError(
      `a header of ${headerBytes} bytes is announced, at most ${maximumHeaderBytes} are allowed`,
    );
  }
  const end = lengthBytes + headerBytes;
  if (end > fileBytes) {
    throw new SafetensorsError(`the header should end at byte ${end}, the file at ${fileBytes}: it is truncated`);
  }
  return headerBytes;
}

/**
 * Reads a header.
 * @param json the bytes of the header, without its length
 * @param dataBytes bytes of the file after the header
 * @throws SafetensorsError unless the tensors fill the data exactly, without overlap or hole
 */
export function decodeHeader(json: Uint8Array, dataBytes: number): Header {
  const { [metadataKey]: metadata = {}, ...described } = parseJson(json);
  const entries = Object.entries(described).map(([name, entry]) => parseEntry(name, entry));
  entries.sort((a, b) => a.begin - b.begin || a.end - b.end);
  checkCoverage(entries, dataBytes);
  const result = metadataSchema.safeParse(metadata);
  if (!result.success) throw new SafetensorsError(`${metadataKey} must map strings to strings`);
  return { entries, metadata: result.data };
}

function checkNames(tensors: readonly TensorToPlace[]): void {
  const seen = new Set<string>([metadataKey]);
  for (const { name } of tensors) {
    if (seen.has(name)) throw new Error(`Tensor name "${name}" is reserved or used twice: every tensor needs its own.`);
    seen.add(name);
  }
}

function withLength(json: Uint8Array): Uint8Array<ArrayBuffer> {
  const headerBytes = Math.ceil(json.byteLength / 8) * 8;
  if (headerBytes > maximumHeaderBytes) {
    throw new Error(
      `The header of ${headerBytes} bytes is above the format's ${maximumHeaderBytes}: keep metadata small.`,
    );
  }
  const bytes = new Uint8Array(lengthBytes + headerBytes).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(headerBytes), true);
  bytes.set(json, lengthBytes);
  return bytes;
}

function parseJson(bytes: Uint8Array): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(decodeUtf8(bytes));
  } catch (error) {
    throw new SafetensorsError('the header is not JSON', error);
  }
  const result = z.record(z.string(), z.unknown()).safeParse(header);
  if (!result.success) throw new SafetensorsError('the header is not a JSON object');
  return result.data;
}

function parseEntry(name: string, entry: unknown): TensorEntry {
  const result = entrySchema.safeParse(entry);
  if (!result.success) throw new SafetensorsError(`tensor "${name}": ${z.prettifyError(result.error)}`);
  const { dtype, shape, data_offsets: offsets } = result.data;
  if (!isTensorDtype(dtype)) {
    throw new SafetensorsError(`tensor "${name}" has type ${dtype}; convert it to one of ${dtypeOrder.join(', ')}`);
  }
  const [begin, end] = offsets;
  const expectedBytes = elementCount(shape) * tensorArrays[dtype].BYTES_PER_ELEMENT;
  if (end - begin !== expectedBytes) {
    throw new SafetensorsError(
      `tensor "${name}" (${dtype}, shape [${shape.join(', ')}]) takes ${expectedBytes} bytes, not ${end - begin}`,
    );
  }
  return { name, dtype, shape, begin, end };
}

/** Tensors sorted by offset must follow one another from the first byte of the data to its last. */
function checkCoverage(entries: readonly TensorEntry[], dataBytes: number): void {
  let offset = 0;
  for (const { name, begin, end } of entries) {
    if (begin !== offset) {
      const fault = begin < offset ? 'overlaps the tensor before it' : 'leaves a hole before it';
      throw new SafetensorsError(
        `tensor "${name}" begins at byte ${begin} of the data and ${fault}, which ends at ${offset}`,
      );
    }
    offset = end;
  }
  if (offset !== dataBytes) {
    const fault = offset > dataBytes ? 'the file is truncated' : 'something was appended';
    throw new SafetensorsError(`tensors take ${offset} bytes, the file holds ${dataBytes}: ${fault}`);
  }
}

function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

function isTensorDtype(dtype: string): dtype is TensorDtype {
  return Object.hasOwn(tensorArrays, dtype);
}
