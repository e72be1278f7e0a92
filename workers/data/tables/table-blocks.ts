import { basename } from 'node:path';
import { dataFormatOf } from '../../../core/preprocessing/data-formats.ts';
import { type TableReading, usualMissingValues } from '../../../core/preprocessing/reading.ts';
import type { RawTable } from './cells.ts';
import { type ColumnType, plainFormat, typedColumn } from './columns.ts';
import { type ChosenColumn, chooseColumns } from './reading/choose-columns.ts';
import { leftOutColumns } from './reading/describe-reading.ts';
import { noColumn, type Table } from './table.ts';
import { rawBlocks } from './table-readers.ts';

/** How to read a table in blocks. */
export interface TableBlocksOptions {
  /**
   * The columns that are wanted, with their types; null: all, with the types of the training table or of the first
   * block.
   */
  types: Readonly<Record<string, ColumnType>> | null;
  /** How the training table was read, which also holds for this one; null: not known. */
  reading?: TableReading | null;
  /** Bytes of text in a block, and rows of a block of Parquet. */
  blockBytes?: number;
  blockRows?: number;
}

/** The wanted columns by name. */
type WantedColumns = ReadonlyMap<string, ChosenColumn>;

/**
 * Reads a table block by block, so that a large one takes no more memory than a small one. A Parquet file's bytes stay
 * in memory, its values do not. Text (`.txt`) has one column, `text`, with a line for each row.
 * @throws Error that names file, place, column and value of what cannot be read
 */
export async function* tableBlocks(file: string, options: TableBlocksOptions): AsyncGenerator<Table> {
  const isText = dataFormatOf(file)?.holds === 'text';
  const { reading = null, blockBytes, blockRows } = options;
  const missing = new Set(reading?.missingValues ?? usualMissingValues);
  let wanted = wantedColumns(options);
  let rows = 0;
  let emptyRows = 0;
  const isMissing = (field: string) => missing.has(field);
  for await (const block of rawBlocks(file, { isMissing, reading, wanted, blockBytes, blockRows })) {
    emptyRows += block.emptyRows ?? 0;
    if (block.length === 0) continue;
    const own = 'source' in block ? (wanted ?? firstColumns(block, reading, isText)) : wanted;
    wanted = own;
    const table = 'source' in block ? typedBlock(block, own ?? new Map(), isText) : block;
    rows += block.length;
    yield { ...table, emptyRows };
    emptyRows = 0;
  }
  if (rows === 0) throw new Error(`${file} has no rows of data. Give one row a sample.`);
}

/** The wanted columns, written as in the training table; null where the file says which there are. */
function wantedColumns({ types, reading = null }: TableBlocksOptions): WantedColumns | null {
  if (types === null) return null;
  return new Map(
    Object.entries(types).map(([name, type]): [string, ChosenColumn] => {
      const known = reading?.columns.find((column) => column.name === name && column.type === type);
      return [name, { type, ...formatOf(known) }];
    }),
  );
}

function formatOf({ numberFormat, dateFormat } = plainFormat) {
  return { numberFormat, dateFormat };
}

/** All columns of a file: those of the training table, else as the first block shows them. */
function firstColumns(raw: RawTable, reading: TableReading | null, isText: boolean): WantedColumns {
  const names = raw.columns.map(({ name }) => name);
  if (isText) return new Map(names.map((name) => [name, { type: 'text', ...plainFormat }]));
  const known = new Map(reading?.columns.map((column) => [column.name, column]));
  const types = new Map<string, 'ignore'>(leftOutColumns(raw, new Map()).map(({ name }) => [name, 'ignore']));
  for (const name of known.keys()) types.set(name, 'ignore');
  const chosen = chooseColumns(raw, types, {});
  const columns = names.flatMap((name, i): [string, ChosenColumn][] => {
    const column = known.get(name);
    if (column !== undefined) return [[name, { type: column.type, ...formatOf(column) }]];
    return chosen[i] === null ? [] : [[name, chosen[i]]];
  });
  return new Map(columns);
}

function typedBlock(raw: RawTable, wanted: WantedColumns, isText: boolean): Table {
  const names = raw.columns.map(({ name }) => name);
  // A file of texts has no names: its texts are the only column that is wanted.
  const nameOf = (name: string) => (isText && wanted.size === 1 ? 'text' : name);
  const columns = [...wanted].map(([name, how]) => {
    const index = names.indexOf(nameOf(name));
    if (index < 0) throw noColumn(raw.source, name, names);
    return { ...typedColumn(raw, index, how.type, how), name };
  });
  return { name: basename(raw.source), length: raw.length, columns };
}
