import { zstdDecompressSync } from 'node:zlib';
import { byteCount } from '../../sources/files.ts';
import type { Cell } from '../cells.ts';
import { decompressLz4 } from './lz4.ts';
import { type ArrowBatch, type ArrowField, arrowTypes } from './messages.ts';

/** More decompressed bytes than this are refused. */
const mostBytes = 2 ** 32;

/** Gives the buffers of a batch one after the other, decompressed. */
export class Buffers {
  readonly #batch: ArrowBatch;
  readonly #budget: { bytes: number };
  #next = 0;
  #further = 0;

  /** @param budget counts the decompressed bytes of the file */
  constructor(batch: ArrowBatch, budget: { bytes: number }) {
    this.#batch = batch;
    this.#budget = budget;
  }

  /** The next buffer. @throws Error if it has less than `atLeast` bytes */
  next(atLeast: number): Buffer {
    const place = this.#batch.buffers.at(this.#next++);
    if (place === undefined) throw new Error('it has fewer buffers than its columns need');
    const { offset, bytes } = place;
    const { body, codec } = this.#batch;
    if (!(offset >= 0 && bytes >= 0 && offset + bytes <= body.length))
      throw new Error('a buffer lies beyond its batch');
    const stored = body.subarray(offset, offset + bytes);
    const buffer = codec === null || bytes === 0 ? stored : this.#decompressed(stored, codec);
    if (buffer.length < atLeast) throw new Error(`a buffer has ${buffer.length} bytes, its column needs ${atLeast}`);
    return buffer;
  }

  /** The further buffers of a column with views. */
  further(): Buffer[] {
    const count = this.#batch.further.at(this.#further++) ?? 0;
    if (!(count >= 0 && count <= this.#batch.buffers.length)) throw new Error('a column has too many buffers');
    return Array.from({ length: count }, () => this.next(0));
  }

  #decompressed(stored: Buffer, codec: number): Buffer {
    if (stored.length < 8) throw new Error('a compressed buffer has no size');
    const size = Number(stored.readBigInt64LE(0));
    const compressed = stored.subarray(8);
    if (size === -1) return compressed;
    this.#budget.bytes += size;
    if (!(size >= 0 && this.#budget.bytes <= mostBytes)) throw new Error(`it holds more than ${byteCount(mostBytes)}`);
    if (codec === 0) return decompressLz4(compressed, size);
    if (codec !== 1) throw new Error(`it is compressed in a way that is unknown (${codec})`);
    return zstdDecompressSync(compressed, { maxOutputLength: Math.max(1, size) });
  }
}

type Read = (row: number) => Cell;

/**
 * The values of a column in one batch, null where they are missing.
 * @param dictionary the values that a column with a dictionary refers to
 */
export function readColumn(
  field: ArrowField,
  rows: number,
  buffers: Buffers,
  dictionary: readonly Cell[] | null,
): Cell[] {
  if (field.type === arrowTypes.null && field.indices === null) return Array.from({ length: rows }, () => null);
  const validity = buffers.next(0);
  if (validity.length > 0 && validity.length * 8 < rows)
    throw new Error(`column "${field.name}" has too few bits of validity`);
  const read =
    dictionary === null ? readerOf(field, rows, buffers) : dictionaryReader(field, rows, buffers, dictionary);
  const isPresent = (row: number): boolean => validity.length === 0 || bitOf(validity, row);
  return Array.from({ length: rows }, (_, row) => (isPresent(row) ? read(row) : null));
}

function bitOf(bytes: Buffer, index: number): boolean {
  return ((bytes[index >> 3] >> (index & 7)) & 1) === 1;
}

function dictionaryReader(
  { name, indices }: ArrowField,
  rows: number,
  buffers: Buffers,
  dictionary: readonly Cell[],
): Read {
  const index = integers(
    { name, bitWidth: indices?.bitWidth ?? 0, isSigned: indices?.isSigned ?? true },
    rows,
    buffers,
  );
  return (row) => {
    const value = dictionary[Number(index(row))];
    if (value === undefined) throw new Error(`column "${name}" refers to a value that its dictionary lacks`);
    return value;
  };
}

function readerOf(field: ArrowField, rows: number, buffers: Buffers): Read {
  switch (field.type) {
    case arrowTypes.bool: {
      const bits = buffers.next(Math.ceil(rows / 8));
      return (row) => bitOf(bits, row);
    }
    case arrowTypes.int:
      return integers(field, rows, buffers);
    case arrowTypes.float:
      return floats(field, rows, buffers);
    case arrowTypes.date:
    case arrowTypes.timestamp:
      return dates(field, rows, buffers);
    case arrowTypes.utf8:
    case arrowTypes.largeUtf8:
      return texts(field, rows, buffers);
    case arrowTypes.utf8View:
      return views(field, rows, buffers);
    default:
      throw new Error(`column "${field.name}" holds no numbers, texts, dates or booleans (Arrow's type ${field.type})`);
  }
}

function integers(
  { name, bitWidth, isSigned }: Pick<ArrowField, 'name' | 'bitWidth' | 'isSigned'>,
  rows: number,
  buffers: Buffers,
): (row: number) => number | bigint {
  const bytes = bitWidth / 8;
  if (![1, 2, 4, 8].includes(bytes)) throw new Error(`column "${name}" has integers of ${bitWidth} bits`);
  const values = buffers.next(rows * bytes);
  if (bytes === 8) return (row) => (isSigned ? values.readBigInt64LE(row * 8) : values.readBigUInt64LE(row * 8));
  return (row) => (isSigned ? values.readIntLE(row * bytes, bytes) : values.readUIntLE(row * bytes, bytes));
}

function floats({ name, unit }: ArrowField, rows: number, buffers: Buffers): Read {
  if (unit === 0) {
    const halves = buffers.next(rows * 2);
    return (row) => presentNumber(halfOf(halves.readUInt16LE(row * 2)));
  }
  if (unit === 1) {
    const singles = buffers.next(rows * 4);
    return (row) => presentNumber(singles.readFloatLE(row * 4));
  }
  if (unit !== 2) throw new Error(`column "${name}" has floats of an unknown precision`);
  const doubles = buffers.next(rows * 8);
  return (row) => presentNumber(doubles.readDoubleLE(row * 8));
}

/** NaN counts as missing, as in other tables. */
function presentNumber(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

/** IEEE 754 binary16. */
function halfOf(bits: number): number {
  const [sign, exponent, fraction] = [bits >> 15 === 1 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function dates({ name, type, unit }: ArrowField, rows: number, buffers: Buffers): Read {
  const dateOf = (milliseconds: number): Date => {
    const date = new Date(milliseconds);
    if (Number.isNaN(date.getTime())) throw new Error(`column "${name}" has a date beyond what dates can be`);
    return date;
  };
  if (type === arrowTypes.date && unit === 0) {
    const days = buffers.next(rows * 4);
    return (row) => dateOf(days.readInt32LE(row * 4) * 86_400_000);
  }
  const perMillisecond = type === arrowTypes.date ? 1 : [1e-3, 1, 1e3, 1e6].at(unit);
  if (perMillisecond === undefined) throw new Error(`column "${name}" has dates of an unknown unit`);
  const times = buffers.next(rows * 8);
  return (row) => dateOf(Number(times.readBigInt64LE(row * 8)) / perMillisecond);
}

function texts({ name, type }: ArrowField, rows: number, buffers: Buffers): Read {
  const bytes = type === arrowTypes.largeUtf8 ? 8 : 4;
  const offsets = buffers.next(rows === 0 ? 0 : (rows + 1) * bytes);
  const values = buffers.next(0);
  const offsetOf = (row: number): number =>
    bytes === 4 ? offsets.readInt32LE(row * 4) : Number(offsets.readBigInt64LE(row * 8));
  return (row) => {
    const [start, end] = [offsetOf(row), offsetOf(row + 1)];
    // Each text begins where the one before ends, so that all together are not longer than the buffer.
    const isInOrder = start >= (row === 0 ? 0 : offsetOf(row - 1)) && start <= end && end <= values.length;
    if (!isInOrder) throw new Error(`column "${name}" has a text at bytes ${start} to ${end} of ${values.length}`);
    return values.toString('utf8', start, end);
  };
}

/** Texts of up to 12 bytes lie in the view, longer ones in a further buffer. */
function views({ name }: ArrowField, rows: number, buffers: Buffers): Read {
  const own = buffers.next(rows * 16);
  const further = buffers.further();
  let total = 0;
  return (row) => {
    const length = own.readInt32LE(row * 16);
    const isShort = length <= 12;
    const values = isShort ? own : further.at(own.readInt32LE(row * 16 + 8));
    const start = isShort ? row * 16 + 4 : own.readInt32LE(row * 16 + 12);
    total += length;
    const isInside = values !== undefined && length >= 0 && start >= 0 && start + length <= values.length;
    // Views may share bytes, so that a small file could hold endless texts.
    if (!isInside || total > mostBytes / 16) throw new Error(`column "${name}" has a text beyond its buffer`);
    return values.toString('utf8', start, start + length);
  };
}
