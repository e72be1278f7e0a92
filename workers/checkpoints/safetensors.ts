import { z } from 'zod';

/**
 * The safetensors file format (https://huggingface.co/docs/safetensors, "Format"), which PyTorch, JAX and NumPy users can
 * open: 8 bytes of header length (unsigned, little-endian), a JSON header padded with spaces to a multiple of 8, then
 * the tensors' values, little-endian and in row-major order, without holes.
 */

const ARRAYS = { I64: BigInt64Array, F64: Float64Array, F32: Float32Array, I32: Int32Array, U8: Uint8Array } as const;

export type TensorDtype = keyof typeof ARRAYS;

/** A tensor by name; `data` holds the values in row-major order, as many as the product of `shape`. */
export type NamedTensor = {
  [D in TensorDtype]: { name: string; dtype: D; shape: readonly number[]; data: InstanceType<(typeof ARRAYS)[D]> };
}[TensorDtype];

const LENGTH_BYTES = 8;
/** The limit of the reference implementation. */
const MAX_HEADER_BYTES = 100_000_000;
const METADATA_KEY = '__metadata__';
/** Values in the order in which the reference implementation lays types out: the widest first, so that all are aligned. */
const DTYPE_ORDER = Object.keys(ARRAYS);

const entrySchema = z.strictObject({
  dtype: z.string(),
  shape: z.array(z.int().min(0)),
  data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
});
const metadataSchema = z.record(z.string(), z.string());

interface Entry {
  name: string;
  dtype: TensorDtype;
  shape: number[];
  begin: number;
  end: number;
}

/**
 * Encodes tensors, laid out as the reference implementation does (by type, then by name), so that equal tensors give equal
 * bytes in whatever order they come.
 *
 * @throws on a name used twice or reserved, and on a shape that does not fit the number of values.
 */
export function encodeSafetensors(
  tensors: readonly NamedTensor[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array<ArrayBuffer> {
  const sorted = tensors.toSorted(byTypeThenName);
  checkNames(sorted);
  const header = encodeHeader(sorted, metadata);
  const dataBytes = sorted.reduce((sum, tensor) => sum + tensor.data.byteLength, 0);
  const file = new Uint8Array(LENGTH_BYTES + header.byteLength + dataBytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.byteLength), true);
  file.set(header, LENGTH_BYTES);
  let offset = LENGTH_BYTES + header.byteLength;
  for (const { data } of sorted) {
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), offset);
    offset += data.byteLength;
  }
  return file;
}

/**
 * Decodes a safetensors file into copies of its tensors, in the order of their data.
 *
 * @throws on anything but a well-formed file whose tensors fill its data exactly, without overlap or hole.
 */
export function decodeSafetensors(bytes: Uint8Array): { tensors: NamedTensor[]; metadata: Record<string, string> } {
  const { header, data } = splitFile(bytes);
  const { [METADATA_KEY]: metadata = {}, ...entries } = header;
  const parsed = Object.entries(entries).map(([name, entry]) => parseEntry(name, entry));
  const sorted = parsed.sort((a, b) => a.begin - b.begin || a.end - b.end);
  checkCoverage(sorted, data.byteLength);
  const metadataResult = metadataSchema.safeParse(metadata);
  if (!metadataResult.success) throw invalid(`${METADATA_KEY} must map strings to strings`);
  return { tensors: sorted.map((entry) => readTensor(entry, data)), metadata: metadataResult.data };
}

/** What a byte of a well-formed file belongs to, in words; past its end: that. */
export function placeOf(offset: number, bytes: Uint8Array): string {
  const { header, data } = splitFile(bytes);
  const { [METADATA_KEY]: _, ...entries } = header;
  const inData = offset - (bytes.byteLength - data.byteLength);
  if (inData < 0) return 'its header';
  const tensor = Object.entries(entries).find(([name, entry]) => {
    const { begin, end } = parseEntry(name, entry);
    return begin <= inData && inData < end;
  });
  return tensor === undefined ? 'its end' : `tensor "${tensor[0]}"`;
}

function byTypeThenName(a: NamedTensor, b: NamedTensor): number {
  return DTYPE_ORDER.indexOf(a.dtype) - DTYPE_ORDER.indexOf(b.dtype) || (a.name < b.name ? -1 : 1);
}

function checkNames(tensors: readonly NamedTensor[]): void {
  const seen = new Set<string>([METADATA_KEY]);
  for (const { name } of tensors) {
    if (seen.has(name)) throw new Error(`Tensor name "${name}" is reserved or used twice: every tensor needs its own.`);
    seen.add(name);
  }
}

function encodeHeader(tensors: readonly NamedTensor[], metadata: Readonly<Record<string, string>>): Uint8Array {
  let offset = 0;
  const entries = tensors.map((tensor): [string, z.input<typeof entrySchema>] => {
    const { name, dtype, shape, data } = tensor;
    if (elementCount(shape) !== data.length) {
      throw new Error(
        `Tensor "${name}" has ${data.length} values, but its shape [${shape.join(', ')}] holds ${elementCount(shape)}.`,
      );
    }
    const begin = offset;
    offset += data.byteLength;
    return [name, { dtype, shape: [...shape], data_offsets: [begin, offset] }];
  });
  const described = Object.keys(metadata).length > 0 ? [[METADATA_KEY, metadata] as const] : [];
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries([...described, ...entries])));
  const padded = new Uint8Array(Math.ceil(json.byteLength / 8) * 8).fill(0x20);
  padded.set(json);
  if (padded.byteLength > MAX_HEADER_BYTES) {
    throw new Error(
      `The header of ${padded.byteLength} bytes is above the format's ${MAX_HEADER_BYTES}: keep metadata small.`,
    );
  }
  return padded;
}

function splitFile(bytes: Uint8Array): { header: Record<string, unknown>; data: Uint8Array } {
  if (bytes.byteLength < LENGTH_BYTES) throw invalid(`${bytes.byteLength} bytes are too few for the header's length`);
  const headerBytes = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (headerBytes > MAX_HEADER_BYTES) {
    throw invalid(`a header of ${headerBytes} bytes is announced, at most ${MAX_HEADER_BYTES} are allowed`);
  }
  const dataStart = LENGTH_BYTES + headerBytes;
  if (dataStart > bytes.byteLength) {
    throw invalid(`the header should end at byte ${dataStart}, the file at ${bytes.byteLength}: it is truncated`);
  }
  return { header: parseHeader(bytes.subarray(LENGTH_BYTES, dataStart)), data: bytes.subarray(dataStart) };
}

function parseHeader(bytes: Uint8Array): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw invalid('the header is not JSON', error);
  }
  const result = z.record(z.string(), z.unknown()).safeParse(header);
  if (!result.success) throw invalid('the header is not a JSON object');
  return result.data;
}

function parseEntry(name: string, entry: unknown): Entry {
  const result = entrySchema.safeParse(entry);
  if (!result.success) throw invalid(`tensor "${name}": ${z.prettifyError(result.error)}`);
  const { dtype, shape, data_offsets: offsets } = result.data;
  if (!isTensorDtype(dtype)) {
    throw invalid(`tensor "${name}" has type ${dtype}; convert it to one of ${DTYPE_ORDER.join(', ')}`);
  }
  const [begin, end] = offsets;
  const expectedBytes = elementCount(shape) * ARRAYS[dtype].BYTES_PER_ELEMENT;
  if (end - begin !== expectedBytes) {
    throw invalid(
      `tensor "${name}" (${dtype}, shape [${shape.join(', ')}]) takes ${expectedBytes} bytes, not ${end - begin}`,
    );
  }
  return { name, dtype, shape, begin, end };
}

/** Tensors sorted by offset must follow one another from the first byte of the data to its last. */
function checkCoverage(entries: readonly Entry[], dataBytes: number): void {
  let offset = 0;
  for (const { name, begin, end } of entries) {
    if (begin !== offset) {
      const fault = begin < offset ? 'overlaps the tensor before it' : 'leaves a hole before it';
      throw invalid(`tensor "${name}" begins at byte ${begin} of the data and ${fault}, which ends at ${offset}`);
    }
    offset = end;
  }
  if (offset !== dataBytes) {
    const fault = offset > dataBytes ? 'the file is truncated' : 'something was appended';
    throw invalid(`tensors take ${offset} bytes, the file holds ${dataBytes}: ${fault}`);
  }
}

function readTensor({ name, dtype, shape, begin, end }: Entry, data: Uint8Array): NamedTensor {
  // A copy: the values need not be aligned in the file, and the tensor must not keep the whole file in memory.
  const { buffer } = new Uint8Array(data.subarray(begin, end));
  switch (dtype) {
    case 'I64':
      return { name, dtype, shape, data: new BigInt64Array(buffer) };
    case 'F64':
      return { name, dtype, shape, data: new Float64Array(buffer) };
    case 'F32':
      return { name, dtype, shape, data: new Float32Array(buffer) };
    case 'I32':
      return { name, dtype, shape, data: new Int32Array(buffer) };
    case 'U8':
      break;
  }
  return { name, dtype, shape, data: new Uint8Array(buffer) };
}

function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

function isTensorDtype(dtype: string): dtype is TensorDtype {
  return Object.hasOwn(ARRAYS, dtype);
}

function invalid(reason: string, cause?: unknown): Error {
  return new Error(`Not a valid safetensors file: ${reason}.`, { cause });
}
