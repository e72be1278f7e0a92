import {
  decodeHeader,
  encodeHeader,
  type Header,
  inFileOrder,
  lengthBytes,
  readHeaderLength,
  type tensorArrays,
  type TensorDtype,
  type TensorEntry,
} from './header.ts';

/** A named tensor. `data` holds the values in row-major order, as many as the product of `shape`. */
export type NamedTensor = {
  [D in TensorDtype]: {
    name: string;
    dtype: D;
    shape: readonly number[];
    data: InstanceType<(typeof tensorArrays)[D]>;
  };
}[TensorDtype];

/**
 * Encodes tensors in the layout of the reference implementation (by type, then by name): equal tensors give equal
 * bytes, whatever their order.
 *
 * @throws on a name that is reserved or used twice, and on a shape that does not fit the number of values.
 */
export function encodeSafetensors(
  tensors: readonly NamedTensor[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array<ArrayBuffer> {
  const sorted = inFileOrder(tensors);
  const header = encodeHeader(sorted, metadata);
  const dataBytes = sorted.reduce((sum, tensor) => sum + tensor.data.byteLength, 0);
  const file = new Uint8Array(header.byteLength + dataBytes);
  file.set(header);
  let offset = header.byteLength;
  for (const { data } of sorted) {
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), offset);
    offset += data.byteLength;
  }
  return file;
}

/**
 * Decodes a safetensors file into copies of its tensors, in the order of their data.
 *
 * @throws SafetensorsError unless the file is well-formed and its tensors fill its data exactly, without overlap or
 * hole.
 */
export function decodeSafetensors(bytes: Uint8Array): { tensors: NamedTensor[]; metadata: Record<string, string> } {
  const { header, dataStart } = splitFile(bytes);
  const { entries, metadata } = header;
  const tensors = entries.map((entry) => {
    // A copy: values need not be aligned in the file, and a tensor must not keep the whole file in memory.
    const { buffer } = new Uint8Array(bytes.subarray(dataStart + entry.begin, dataStart + entry.end));
    return tensorOf(entry, buffer);
  });
  return { tensors, metadata };
}

/** Names the part of a well-formed file to which a byte belongs: `tensor "dense/bias"`, `its header`, `its end`. */
export function describePosition(offset: number, bytes: Uint8Array): string {
  const { header, dataStart } = splitFile(bytes);
  const inData = offset - dataStart;
  if (inData < 0) return 'its header';
  const tensor = header.entries.find(({ begin, end }) => begin <= inData && inData < end);
  return tensor === undefined ? 'its end' : `tensor "${tensor.name}"`;
}

/** The tensor whose values fill `buffer`. */
export function tensorOf({ name, dtype, shape }: TensorEntry, buffer: ArrayBuffer): NamedTensor {
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

function splitFile(bytes: Uint8Array): { header: Header; dataStart: number } {
  const dataStart = lengthBytes + readHeaderLength(bytes, bytes.byteLength);
  return { header: decodeHeader(bytes.subarray(lengthBytes, dataStart), bytes.byteLength - dataStart), dataStart };
}
