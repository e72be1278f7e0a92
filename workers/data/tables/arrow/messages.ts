/**
 * The descriptions in a file of Apache Arrow's IPC format (Feather version 2): schema, record batches and dictionaries.
 * Source: https://arrow.apache.org/docs/format/Columnar.html, and its `Schema.fbs`, `Message.fbs` and `File.fbs`.
 */

/** Numbers of the types in `Schema.fbs`. */
export const arrowTypes = {
  null: 1,
  int: 2,
  float: 3,
  utf8: 5,
  bool: 6,
  date: 8,
  timestamp: 10,
  largeUtf8: 20,
  utf8View: 24,
} as const;

/** A column's type, as far as tables have it. */
export interface ArrowField {
  name: string;
  type: number;
  /** Bits of an integer. */
  bitWidth: number;
  isSigned: boolean;
  /**
   * Of a float: 0 for 16 bits, 1 for 32, 2 for 64. Of a date: 0 for days, 1 for ms. Of a timestamp: 0 to 3 for s, ms,
   * µs, ns.
   */
  unit: number;
  /** The integers that stand for values of a dictionary; null: there is none. */
  indices: { id: number; bitWidth: number; isSigned: boolean } | null;
}

/** Values of all columns in some rows, or of a dictionary. */
export interface ArrowBatch {
  rows: number;
  /** One for each column. */
  nodes: { rows: number; nulls: number }[];
  /** Where buffers lie in the body. */
  buffers: { offset: number; bytes: number }[];
  /** 0: LZ4, 1: Zstandard; null: not compressed. */
  codec: number | null;
  /** Numbers of further buffers of columns with views. */
  further: number[];
  body: Buffer;
}

/** A dictionary, or more values of one. */
export interface ArrowDictionary {
  id: number;
  isMore: boolean;
  batch: ArrowBatch;
}

interface ArrowFile {
  fields: ArrowField[];
  dictionaries: ArrowDictionary[];
  batches: ArrowBatch[];
}

const magic = 'ARROW1';
/** Blocks in all: descriptions of many batches may lie in the same bytes. */
const mostBlocks = 100_000;
const oldestVersion = 3;

/** @throws Error that says what is wrong with the file */
export function readArrowFile(bytes: Buffer): ArrowFile {
  const isFile =
    bytes.length > 20 &&
    bytes.toString('latin1', 0, 6) === magic &&
    bytes.toString('latin1', bytes.length - 6) === magic;
  if (!isFile) {
    throw new Error(
      'it does not begin and end with ARROW1: it is truncated, a stream, or Feather version 1. Write it as a ' +
        'file, such as with pyarrow.feather.write_feather',
    );
  }
  const end = bytes.length - 10;
  const size = bytes.readInt32LE(end);
  if (size <= 0 || size > end - 8) throw new Error(`its footer has ${size} bytes`);
  const footer = new FlatTable(viewOf(bytes.subarray(end - size, end)), 0);
  const schema = footer.table(1);
  if (schema === null) throw new Error('it has no schema');
  if (schema.int16(0) !== 0) throw new Error('its numbers are big-endian');
  const blocks = (field: number) =>
    footer.structs(field, 24, (view, at) => ({
      offset: Number(view.getBigInt64(at, true)),
      metadataBytes: view.getInt32(at + 8, true),
      bodyBytes: Number(view.getBigInt64(at + 16, true)),
    }));
  const [dictionaries, batches] = [blocks(2), blocks(3)];
  if (dictionaries.length + batches.length > mostBlocks) throw new Error(`it has more than ${mostBlocks} batches`);
  return {
    fields: schema.tables(1).map(fieldOf),
    dictionaries: dictionaries.map((block) => dictionaryOf(bytes, block)),
    batches: batches.map((block) => recordBatchOf(bytes, block)),
  };
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function fieldOf(field: FlatTable): ArrowField {
  const name = field.text(0);
  if (field.structs(5, 4, () => null).length > 0) throw new Error(`column "${name}" is nested or a list`);
  const [type, about, dictionary] = [field.uint8(2), field.table(3), field.table(4)];
  const index = dictionary?.table(1);
  // The defaults of Schema.fbs: dates in milliseconds, indices of 32 bits with a sign.
  const unit = about?.int16(0, type === arrowTypes.date ? 1 : 0) ?? 0;
  return {
    name,
    type,
    bitWidth: type === arrowTypes.int ? (about?.int32(0) ?? 0) : 0,
    isSigned: type === arrowTypes.int && about?.uint8(1) === 1,
    unit,
    indices: dictionary && {
      id: dictionary.int64(0),
      bitWidth: index?.int32(0) ?? 32,
      isSigned: index === undefined || index === null || index.uint8(1) === 1,
    },
  };
}

interface Block {
  offset: number;
  metadataBytes: number;
  bodyBytes: number;
}

/** The description at a block, and its body. */
function messageAt(bytes: Buffer, { offset, metadataBytes, bodyBytes }: Block, kind: number) {
  const body = offset + metadataBytes;
  const isInside = offset >= 8 && metadataBytes >= 8 && bodyBytes >= 0 && body + bodyBytes <= bytes.length;
  if (!isInside) throw new Error(`a batch lies at bytes ${offset} to ${body + bodyBytes} of ${bytes.length}`);
  // Before version 0.15 the size came first, without the marker -1.
  const start = bytes.readInt32LE(offset) === -1 ? 8 : 4;
  const message = new FlatTable(viewOf(bytes.subarray(offset + start, body)), 0);
  if (message.int16(0) < oldestVersion) throw new Error('it is of a version before 0.8 of Arrow');
  const header = message.table(2);
  if (message.uint8(1) !== kind || header === null) throw new Error('a batch is described as something else');
  return { header, body: bytes.subarray(body, body + bodyBytes) };
}

function recordBatchOf(bytes: Buffer, block: Block): ArrowBatch {
  const { header, body } = messageAt(bytes, block, 3);
  return batchOf(header, body);
}

function dictionaryOf(bytes: Buffer, block: Block): ArrowDictionary {
  const { header, body } = messageAt(bytes, block, 2);
  const data = header.table(1);
  if (data === null) throw new Error('a dictionary has no values');
  return { id: header.int64(0), isMore: header.uint8(2) === 1, batch: batchOf(data, body) };
}

function batchOf(header: FlatTable, body: Buffer): ArrowBatch {
  const compression = header.table(3);
  return {
    rows: header.int64(0),
    nodes: header.structs(1, 16, (view, at) => ({
      rows: Number(view.getBigInt64(at, true)),
      nulls: Number(view.getBigInt64(at + 8, true)),
    })),
    buffers: header.structs(2, 16, (view, at) => ({
      offset: Number(view.getBigInt64(at, true)),
      bytes: Number(view.getBigInt64(at + 8, true)),
    })),
    codec: compression === null ? null : compression.uint8(0),
    further: header.structs(4, 8, (view, at) => Number(view.getBigInt64(at, true))),
    body,
  };
}

/**
 * A part of a flatbuffer: a table, whose fields have numbers from 0. All reads stay within the buffer: DataView refuses
 * others.
 */
class FlatTable {
  readonly #view: DataView;
  readonly #start: number;
  readonly #fields: number;
  readonly #size: number;

  /** @param at where the offset of the table lies */
  constructor(view: DataView, at: number) {
    this.#view = view;
    this.#start = at + view.getUint32(at, true);
    this.#fields = this.#start - view.getInt32(this.#start, true);
    this.#size = view.getUint16(this.#fields, true);
  }

  int64(field: number): number {
    const at = this.#at(field);
    return at === null ? 0 : Number(this.#view.getBigInt64(at, true));
  }

  int32(field: number): number {
    const at = this.#at(field);
    return at === null ? 0 : this.#view.getInt32(at, true);
  }

  int16(field: number, absent = 0): number {
    const at = this.#at(field);
    return at === null ? absent : this.#view.getInt16(at, true);
  }

  uint8(field: number): number {
    const at = this.#at(field);
    return at === null ? 0 : this.#view.getUint8(at);
  }

  text(field: number): string {
    const at = this.#at(field);
    if (at === null) return '';
    const start = at + this.#view.getUint32(at, true);
    const length = this.#view.getUint32(start, true);
    const { buffer, byteOffset } = this.#view;
    this.#requireInside(start + 4 + length);
    return Buffer.from(buffer, byteOffset + start + 4, length).toString('utf8');
  }

  table(field: number): FlatTable | null {
    const at = this.#at(field);
    return at === null ? null : new FlatTable(this.#view, at);
  }

  /** The tables of a vector. */
  tables(field: number): FlatTable[] {
    return this.structs(field, 4, (view, at) => new FlatTable(view, at));
  }

  /** The elements of a vector, of `bytes` each. */
  structs<T>(field: number, bytes: number, read: (view: DataView, at: number) => T): T[] {
    const at = this.#at(field);
    if (at === null) return [];
    const start = at + this.#view.getUint32(at, true);
    const length = this.#view.getUint32(start, true);
    this.#requireInside(start + 4 + length * bytes);
    return Array.from({ length }, (_, i) => read(this.#view, start + 4 + i * bytes));
  }

  #at(field: number): number | null {
    const place = 4 + 2 * field;
    if (place + 2 > this.#size) return null;
    const offset = this.#view.getUint16(this.#fields + place, true);
    return offset === 0 ? null : this.#start + offset;
  }

  #requireInside(end: number): void {
    if (end > this.#view.byteLength) throw new Error('a list or text ends beyond its part of the file');
  }
}
