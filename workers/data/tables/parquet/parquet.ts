import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { reasonOf } from '../../sources/files.ts';
import { checkPages } from './parquet-pages.ts';
import { addCell, type Cell, emptyColumn, type IsMissing, type RawTable } from '../cells.ts';
import { checkSize } from '../raw-table.ts';

const unzip = (decompress: (bytes: Uint8Array, options: { maxOutputLength: number }) => Buffer) => {
  return (bytes: Uint8Array, size: number) =>
    Uint8Array.from(decompress(bytes, { maxOutputLength: Math.max(1, size) }));
};

const compressors = {
  GZIP: unzip(gunzipSync),
  BROTLI: unzip(brotliDecompressSync),
  ZSTD: unzip(zstdDecompressSync),
};

/**
 * Reads a Parquet file of plain columns, with any of the compressions none, Snappy, GZIP, Brotli and Zstandard.
 * @throws Error if it is damaged, or has lists or nested columns
 */
export async function parseParquet(bytes: Buffer, source: string, isMissing: IsMissing): Promise<RawTable> {
  const whole = await parquetBlocks(bytes, source, isMissing, Infinity).next();
  return whole.value as RawTable;
}

/** The same in blocks of rows, of which the last may be smaller; one without rows for a file without rows. */
export async function* parquetBlocks(
  bytes: Buffer,
  source: string,
  isMissing: IsMissing,
  blockRows: number,
): AsyncGenerator<RawTable> {
  // A copy begins at the start of its buffer, which the reader needs.
  const file = Uint8Array.from(bytes).buffer;
  const { metadata, names, length } = await explained(source, () => openParquet(file, source));
  for (let first = 0; first === 0 || first < length; first += blockRows) {
    const end = Math.min(length, first + blockRows);
    const rows = await explained(source, async () => {
      const read = await parquetReadObjects({ file, metadata, compressors, rowStart: first, rowEnd: end });
      if (read.length === end - first) return read;
      throw new Error(`it has ${read.length} rows from row ${first} to ${end}, its footer says ${end - first}`);
    });
    const columns = names.map((name) => {
      const column = emptyColumn(name);
      for (const row of rows) addCell(column, cellOf(row[name], name, source), isMissing);
      return column;
    });
    const placeOf = (row: number) => `${source}, row ${first + row + 1}`;
    yield { source, columns, length: rows.length, hasNames: true, placeOf };
  }
}

function openParquet(file: ArrayBuffer, source: string) {
  const metadata = parquetMetadata(file);
  const names = metadata.schema.slice(1).map(({ name }) => name);
  if (names.length !== metadata.schema[0]?.num_children) throw new Error('it has lists or nested columns');
  const length = Number(metadata.num_rows);
  checkSize(source, length, names.length);
  checkPages(file, metadata, compressors);
  return { metadata, names, length };
}

async function explained<T>(source: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new Error(
      `${source} cannot be read as Parquet: ${reasonOf(error)}. Write it again, with plain columns of numbers, ` +
        'texts, dates and booleans.',
      { cause: error },
    );
  }
}

function cellOf(value: unknown, name: string, source: string): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' || value instanceof Date) {
    return value;
  }
  throw new Error(
    `${source}: column "${name}" holds values that are no numbers, texts, dates or booleans. Write it as one ` +
      'of these, or leave it out.',
  );
}
