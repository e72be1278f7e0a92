import { basename } from 'node:path';
import { dataFormatOf } from '../../../core/preprocessing/data-formats.ts';
import { type TableReading, usualMissingValues } from '../../../core/preprocessing/reading.ts';
import { missingTest, type RawTable } from './cells.ts';
import { type ColumnType, plainFormat } from './columns.ts';
import { chooseColumns } from './reading/choose-columns.ts';
import { leftOutColumns } from './reading/describe-reading.ts';
import { columnsLike, type ColumnToPredict, columnsToPredict, type Table } from './table.ts';
import { rawBlocks } from './table-readers.ts';

/** How to read a table in blocks. */
export interface TableBlocksOptions {
  /**
   * The columns that are wanted, with their types; null: all, with the types of the training table or of the first
   * block.
   */
  types: Readonly<Record<string, ColumnType>> | null;
  /** Which of these may be absent, or have cells of other types, which then count as missing; none by default. */
  imputed?: ReadonlySet<string>;
  /** How the training table was read, which also holds for this one; null: not known. */
  reading?: TableReading | null;
  /** Bytes of text in a block, and rows of a block of Parquet. */
  blockBytes?: number;
  blockRows?: number;
}

/** The wanted columns by name. */
type WantedColumns = ReadonlyMap<string, ColumnToPredict>;

/**
 * Reads a table block by block, so that a large one takes no more memory than a small one. A Parquet file's bytes stay
 * in memory, its values do not. Text (`.txt`) has one column, `text`, with a line for each row.
 * @throws Error that names file, place, column and value of what cannot be read
 */
export async function* tableBlocks(file: string, options: TableBlocksOptions): AsyncGenerator<Table> {
  const isText = dataFormatOf(file)?.holds === 'text';
  const { types, imputed = new Set(), reading = null, blockBytes, blockRows } = options;
  let wanted: WantedColumns | null = types === null ? null : columnsLike({ types, imputed, reading });
  let rows = 0;
  let rowsBefore = 0;
  let emptyRows = 0;
  const isMissing = missingTest(reading?.missingValues ?? usualMissingValues);
  for await (const block of rawBlocks(file, { isMissing, reading, wanted, blockBytes, blockRows })) {
    const leftOut = 'source' in block ? (block.emptyRows ?? []) : [];
    const belowNames = leftOut.filter((before) => before >= 0);
    const rowNumbers = numbersOfRows(block.length, belowNames, rowsBefore);
    rowsBefore += block.length + belowNames.length;
    emptyRows += leftOut.length;
    if (block.length === 0) continue;
    const own = 'source' in block ? (wanted ?? firstColumns(block, reading, isText)) : wanted;
    wanted = own;
    const table = 'source' in block ? typedBlock(block, own ?? new Map(), isText) : block;
    rows += block.length;
    yield { ...table, emptyRows, rowNumbers };
    emptyRows = 0;
  }
  if (rows === 0) throw new Error(`${file} has no rows of data. Give one row a sample.`);
}

/** @param leftOut for each row that was left out, how many of the others lie in front of it */
function numbersOfRows(length: number, leftOut: readonly number[], rowsBefore: number): Float64Array {
  let passed = 0;
  return Float64Array.from({ length }, (_, row) => {
    while (passed < leftOut.length && leftOut[passed] <= row) passed++;
    return rowsBefore + passed + row;
  });
}

/** All columns of a file: those of the training table, else as the first block shows them. */
function firstColumns(raw: RawTable, reading: TableReading | null, isText: boolean): WantedColumns {
  const names = raw.columns.map(({ name }) => name);
  const isImputed = false;
  if (isText) return new Map(names.map((name) => [name, { type: 'text', isImputed, ...plainFormat }]));
  const known = new Map(reading?.columns.map((column) => [column.name, column]));
  const types = new Map<string, 'ignore'>(leftOutColumns(raw, new Map()).map(({ name }) => [name, 'ignore']));
  for (const name of known.keys()) types.set(name, 'ignore');
  const chosen = chooseColumns(raw, types, {});
  const columns = names.flatMap((name, i): [string, ColumnToPredict][] => {
    const column = known.get(name);
    if (column !== undefined) return [[name, { ...column, isImputed }]];
    return chosen[i] === null ? [] : [[name, { ...chosen[i], isImputed }]];
  });
  return new Map(columns);
}

function typedBlock(raw: RawTable, wanted: WantedColumns, isText: boolean): Table {
  // A file of texts has no names: its texts are the only column that is wanted.
  const nameOf = (name: string) => (isText && wanted.size === 1 ? 'text' : name);
  return { name: basename(raw.source), length: raw.length, columns: columnsToPredict(raw, wanted, nameOf) };
}
