import type { InputInfo } from '../../core/ensemble/tensors.ts';
import { decodeUtf8 } from '../../core/text/host.ts';
import {
  columnNumbers,
  countOf,
  type GivenInput,
  isInRange,
  numeric,
  rangeRule,
  RequestError,
  type TypedValues,
  wrongDatatype,
  wrongValue,
} from './given-input.ts';

/**
 * Values of the binary tensor extension: little-endian, row-major, without padding. A BOOL is a byte 0 or 1; an element
 * of BYTES is its length as a 32-bit integer and its bytes, which must be UTF-8
 * (https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/protocol/extension_binary_data.html).
 */

interface BinaryInput extends GivenInput {
  data: Uint8Array;
}

interface NumericType {
  bytes: number;
  read: (view: DataView, offset: number) => number;
}

const numericTypes: Record<string, NumericType> = {
  UINT8: { bytes: 1, read: (view, offset) => view.getUint8(offset) },
  UINT16: { bytes: 2, read: (view, offset) => view.getUint16(offset, true) },
  UINT32: { bytes: 4, read: (view, offset) => view.getUint32(offset, true) },
  UINT64: { bytes: 8, read: (view, offset) => Number(view.getBigUint64(offset, true)) },
  INT8: { bytes: 1, read: (view, offset) => view.getInt8(offset) },
  INT16: { bytes: 2, read: (view, offset) => view.getInt16(offset, true) },
  INT32: { bytes: 4, read: (view, offset) => view.getInt32(offset, true) },
  INT64: { bytes: 8, read: (view, offset) => Number(view.getBigInt64(offset, true)) },
  FP16: { bytes: 2, read: (view, offset) => halfPrecision(view.getUint16(offset, true)) },
  FP32: { bytes: 4, read: (view, offset) => view.getFloat32(offset, true) },
  FP64: { bytes: 8, read: (view, offset) => view.getFloat64(offset, true) },
  BF16: { bytes: 2, read: (view, offset) => upperHalf(view.getUint16(offset, true)) },
};

/** @throws RequestError that names the value that does not fit, or the right number of bytes */
export function readBinaryValues(given: BinaryInput, info: InputInfo): TypedValues {
  return info.kind === 'column' ? readColumn(given, info) : readValues(given, info);
}

function readValues(given: BinaryInput, info: InputInfo): TypedValues {
  const { datatype, data } = given;
  if (!numeric.test(datatype)) throw wrongDatatype(given, `${info.datatype}, or another numeric one`);
  if (info.kind === 'values' && datatype === 'UINT8') {
    requireBytes(given, countOf(given));
    return { datatype, values: new Uint8Array(data) };
  }
  return { datatype: 'FP32', values: readNumbers(given, new Float32Array(countOf(given)), isInRange, rangeRule) };
}

function readColumn(given: BinaryInput, { datatype }: InputInfo): TypedValues {
  if (given.datatype === 'BYTES') return { datatype: 'BYTES', values: readTexts(given) };
  if (datatype === 'FP64') {
    if (!numeric.test(given.datatype)) throw wrongDatatype(given, columnNumbers);
    const fits = (value: number): boolean => Number.isNaN(value) || isInRange(value);
    const rule = `${rangeRule}, or NaN where it is missing`;
    return { datatype, values: readNumbers(given, new Float64Array(countOf(given)), fits, rule) };
  }
  if (given.datatype !== datatype) throw wrongDatatype(given, datatype);
  return { datatype, values: readBooleans(given) };
}

function readNumbers<A extends Float32Array | Float64Array>(
  given: BinaryInput,
  values: A,
  fits: (value: number) => boolean,
  rule: string,
): A {
  const { data, datatype } = given;
  const { bytes, read } = numericTypes[datatype];
  requireBytes(given, bytes * values.length);
  const isSame = datatype === (values instanceof Float32Array ? 'FP32' : 'FP64');
  // Frames of messages (`core/protocol/wire`) rely on a little-endian processor too.
  if (isSame) new Uint8Array(values.buffer).set(data);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let i = 0; i < values.length; i++) {
    const value = isSame ? values[i] : read(view, i * bytes);
    if (!fits(value)) throw wrongValue(given, value, i, rule);
    if (!isSame) values[i] = value;
  }
  return values;
}

function readBooleans(given: BinaryInput): Float64Array {
  requireBytes(given, countOf(given));
  return Float64Array.from(given.data, (value, i) => {
    if (value <= 1) return value;
    throw wrongValue(given, value, i, 'the byte 0 or 1');
  });
}

function readTexts(given: BinaryInput): string[] {
  const { data } = given;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let end = 0;
  const texts = Array.from({ length: countOf(given) }, (_, i) => {
    const start = end + 4;
    const length = start <= data.length ? view.getUint32(end, true) : Number.NaN;
    end = start + length;
    if (end <= data.length) return textOf(given, data.subarray(start, end), i);
    throw new RequestError(
      400,
      `The bytes of the input "${given.name}" end before value ${i}; its shape [${given.shape.join(', ')}] ` +
        `needs ${countOf(given)} values.`,
    );
  });
  requireBytes(given, end);
  return texts;
}

function textOf(given: BinaryInput, bytes: Uint8Array, index: number): string {
  try {
    return decodeUtf8(bytes);
  } catch {
    throw wrongValue(given, Array.from(bytes.subarray(0, 8)), index, 'a text in UTF-8');
  }
}

function requireBytes(given: BinaryInput, bytes: number): void {
  if (given.data.length === bytes) return;
  throw new RequestError(
    400,
    `The input "${given.name}" has ${given.data.length} bytes; ${given.datatype} of its shape ` +
      `[${given.shape.join(', ')}] needs ${bytes}.`,
  );
}

/** IEEE 754 binary16: a sign, 5 bits of exponent, 10 bits of fraction. */
function halfPrecision(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const word = new DataView(new ArrayBuffer(4));

/** bfloat16 is the upper half of a float32. */
function upperHalf(bits: number): number {
  word.setUint32(0, bits << 16);
  return word.getFloat32(0);
}
