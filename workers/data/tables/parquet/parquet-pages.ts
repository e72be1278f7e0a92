import type { parquetMetadata } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { decompressPage } from 'hyparquet/src/datapage.js';
import { byteCount } from '../../sources/files.ts';

/** What `parquetMetadata` returns. */
type Metadata = ReturnType<typeof parquetMetadata>;
type ColumnChunk = NonNullable<Metadata['row_groups'][number]['columns'][number]['meta_data']>;
type Header = ReturnType<typeof parquetHeader>;
type Compressors = Parameters<typeof decompressPage>[3];

/** More uncompressed bytes than this are refused. */
const mostBytes = 2 ** 32;
const dictionaryEncodings = ['PLAIN_DICTIONARY', 'RLE_DICTIONARY'];

/**
 * Follows the pages of every column, and the runs in them, before they are decoded: hyparquet trusts sizes and counts,
 * and a damaged one lets it walk in circles, or allocate what the file cannot hold.
 * @throws Error that says what does not fit
 */
export function checkPages(
  file: ArrayBuffer,
  { row_groups: groups, schema }: Metadata,
  compressors: Compressors,
): void {
  let total = 0;
  for (const { columns, num_rows: groupRows } of groups) {
    columns.forEach(({ meta_data: column }, i) => {
      if (column === undefined) throw new Error('a column has no description');
      const isOptional = schema[i + 1].repetition_type === 'OPTIONAL';
      total += new ColumnPages(file, column, { rows: Number(groupRows), isOptional, compressors }).check();
      if (total > mostBytes) throw new Error(`it holds more than ${byteCount(mostBytes)}`);
    });
  }
}

/** The pages of one column in one row group. */
class ColumnPages {
  readonly #view: DataView;
  readonly #column: ColumnChunk;
  readonly #about: { rows: number; isOptional: boolean; compressors: Compressors };

  constructor(
    file: ArrayBuffer,
    column: ColumnChunk,
    about: { rows: number; isOptional: boolean; compressors: Compressors },
  ) {
    const { dictionary_page_offset: dictionary, data_page_offset: data, total_compressed_size: size } = column;
    const start = Number(dictionary ?? data);
    const end = start + Number(size);
    if (!(start >= 4 && start <= Number(data) && end > start && end <= file.byteLength)) {
      throw new Error(`a column lies at bytes ${start} to ${end} of ${file.byteLength}`);
    }
    if (Number(column.num_values) !== about.rows) throw new Error('a column has lists, or too few values');
    this.#view = new DataView(file, start, end - start);
    this.#column = column;
    this.#about = about;
  }

  /** @returns the column's bytes once decompressed */
  check(): number {
    const { rows } = this.#about;
    const reader = { view: this.#view, offset: 0 };
    let values = 0;
    let bytes = 0;
    while (values < rows) {
      if (reader.offset >= this.#view.byteLength - 1)
        throw new Error(`a column ends after ${values} of ${rows} values`);
      const header = parquetHeader(reader);
      const count = this.#checkHeader(header, this.#view.byteLength - reader.offset);
      bytes += header.uncompressed_page_size;
      if (header.type !== 'DICTIONARY_PAGE') {
        values += count;
        this.#checkRuns(header, reader.offset, count);
      }
      reader.offset += header.compressed_page_size;
    }
    if (values !== rows) throw new Error(`a column has ${values} values, its group ${rows}`);
    return bytes;
  }

  #checkHeader(header: Header, bytesLeft: number): number {
    const { type, compressed_page_size: size, uncompressed_page_size: whole } = header;
    const { data_page_header: v1, data_page_header_v2: v2, dictionary_page_header: dictionary } = header;
    const count = (type === 'DICTIONARY_PAGE' ? dictionary : type === 'DATA_PAGE' ? v1 : v2)?.num_values;
    const isSizeRight =
      Number.isInteger(size) && size >= 0 && size <= bytesLeft && whole >= 0 && whole <= mostBytes / 4;
    const least = type === 'DICTIONARY_PAGE' ? 0 : 1;
    // A dictionary's values are stored in full; booleans take a bit, so that no page holds more than eight values a
    // byte without runs.
    const most = type === 'DICTIONARY_PAGE' ? 8 * whole : this.#about.rows;
    if (isSizeRight && count !== undefined && Number.isInteger(count) && count >= least && count <= most) return count;
    throw new Error(
      `a page says that it has ${size} bytes and ${count} values, in a column of ${this.#about.rows} values`,
    );
  }

  #checkRuns(header: Header, offset: number, count: number): void {
    const { compressed_page_size: size, uncompressed_page_size: whole, data_page_header_v2: v2 } = header;
    const stored = new Uint8Array(this.#view.buffer, this.#view.byteOffset + offset, size);
    const encoding = (v2 ?? header.data_page_header)?.encoding ?? 'none';
    const { codec, type } = this.#column;
    const isDictionary = dictionaryEncodings.includes(encoding);
    if (
      !isDictionary &&
      !['PLAIN', 'BYTE_STREAM_SPLIT'].includes(encoding) &&
      !(encoding === 'RLE' && type === 'BOOLEAN')
    ) {
      throw new Error(
        `its values have the encoding ${encoding}, only PLAIN, dictionaries and BYTE_STREAM_SPLIT are read`,
      );
    }
    const { isOptional, compressors } = this.#about;
    const levelBytes = v2 === undefined ? 0 : v2.definition_levels_byte_length + v2.repetition_levels_byte_length;
    if (v2 !== undefined) checkLevels(v2, stored, count);
    const isCompressed = v2?.is_compressed !== false && size > levelBytes;
    const body = stored.subarray(levelBytes);
    const page = isCompressed ? decompressPage(body, whole - levelBytes, codec, compressors) : body;
    let at = 0;
    if (v2 === undefined && isOptional) at = checkPrefixedRuns(page, 0, 1, count);
    if (encoding === 'RLE') checkPrefixedRuns(page, at, 1, count);
    else if (isDictionary && at < page.length) checkRunsOf(page.subarray(at + 1), page[at], count);
  }
}

function checkLevels(v2: NonNullable<Header['data_page_header_v2']>, stored: Uint8Array, count: number): void {
  const { definition_levels_byte_length: definition, repetition_levels_byte_length: repetition, num_nulls: nulls } = v2;
  if (!(definition >= 0 && repetition === 0 && definition <= stored.length && nulls >= 0 && nulls <= count)) {
    throw new Error(
      `a page has ${definition} and ${repetition} bytes of levels and ${nulls} missing values of ${count}`,
    );
  }
  checkRunsOf(stored.subarray(0, definition), 1, count);
}

/** Runs after their length in bytes. @returns where they end */
function checkPrefixedRuns(page: Uint8Array, at: number, width: number, count: number): number {
  const length =
    at + 4 <= page.length ? new DataView(page.buffer, page.byteOffset + at, 4).getUint32(0, true) : Infinity;
  if (at + 4 + length > page.length) throw new Error(`a page's levels take ${length} bytes of ${page.length}`);
  checkRunsOf(page.subarray(at + 4, at + 4 + length), width, count);
  return at + 4 + length;
}

/** Walks runs of the RLE and bit-packing hybrid. @throws Error if one is longer than all values of the page */
function checkRunsOf(runs: Uint8Array, width: number, count: number): void {
  if (width > 32) throw new Error(`a page has numbers of ${width} bits`);
  let seen = 0;
  let at = 0;
  while (at < runs.length && seen < count) {
    let header = 0;
    let factor = 1;
    let byte = 0x80;
    while (byte >= 0x80 && at < runs.length && factor < 2 ** 35) {
      byte = runs[at++];
      header += (byte & 0x7f) * factor;
      factor *= 128;
    }
    const isPacked = header % 2 === 1;
    const length = Math.floor(header / 2) * (isPacked ? 8 : 1);
    if (length > count + 7) throw new Error(`a page of ${count} values has a run of ${length}`);
    at += isPacked ? (length * width) / 8 : Math.ceil(width / 8);
    seen += length;
  }
}
