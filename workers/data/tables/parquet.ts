import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { reasonOf } from '../sources/files.ts';
import { checkPages } from './parquet-pages.ts';
import type { Cell, RawTable } from './cells.ts';
import { checkSize } from './raw-table.ts';

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
export async function parseParquet(
  bytes: Buffer,
  source: string,
  isMissing: (field: string) => boolean,
): Promise<RawTable> {
  // A copy begins at the start of its buffer, which the reader needs.
  const file = Uint8Array.from(bytes).buffer;
  let rows: Record<string, unknown>[] = [];
  let names: string[] = [];
  try {
    const metadata = parquetMetadata(file);
    names = metadata.schema.slice(1).map(({ name }) => name);
    if (names.length !== metadata.schema[0]?.num_children) throw new Error('it has lists or nested columns');
    const length = Number(metadata.num_rows);
    checkSize(source, length, names.length);
    checkPages(file, metadata, compressors);
    rows = await parquetReadObjects({ file, metadata, compressors });
    if (rows.length !== length) throw new Error(`it has ${rows.length} rows, its footer says ${length}`);
  } catch (error) {
    throw new Error(
      `${source} cannot be read as Parquet: ${reasonOf(error)}. Write it again, with plain columns of numbers, texts, dates and booleans.`,
      { cause: error },
    );
  }
  const columns = names.map((name) => ({ name, cells: rows.map((row) => cellOf(row[name], name, source, isMissing)) }));
  return { source, columns, length: rows.length, hasNames: true, placeOf: (row) => `${source}, row ${row + 1}` };
}

function cellOf(value: unknown, name: string, source: string, isMissing: (field: string) => boolean): Cell {
  if (value === null || value === undefined || (typeof value === 'number' && Number.isNaN(value))) return null;
  if (typeof value === 'string') return isMissing(value) ? null : value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' || value instanceof Date) {
    return value;
  }
  throw new Error(
    `${source}: column "${name}" holds values that are no numbers, texts, dates or booleans. Write it as one of these, or leave it out.`,
  );
}
