import { reasonOf } from '../../sources/files.ts';
import { addCell, type Cell, emptyColumn, type IsMissing, type RawTable } from '../cells.ts';
import { checkSize } from '../raw-table.ts';
import { Buffers, readColumn } from './columns.ts';
import { type ArrowBatch, type ArrowDictionary, type ArrowField, readArrowFile } from './messages.ts';

/**
 * Reads a file of Apache Arrow's IPC format (`.arrow`, Feather version 2) of plain columns, also with dictionaries,
 * plain or compressed by LZ4 or Zstandard. All sizes in it are checked before anything is allocated for them.
 * @throws Error if it is damaged, or has lists or nested columns
 */
export function parseArrow(bytes: Buffer, source: string, isMissing: IsMissing): RawTable {
  try {
    const { names, columns, length } = readColumns(bytes, source);
    return {
      source,
      columns: columns.map((cells, i) => {
        const column = emptyColumn(names[i]);
        for (const cell of cells) addCell(column, cell, isMissing);
        return column;
      }),
      length,
      hasNames: true,
      placeOf: (row) => `${source}, row ${row + 1}`,
    };
  } catch (error) {
    throw new Error(
      `${source} cannot be read as Arrow: ${reasonOf(error)}. Write it again, with plain columns of numbers, ` +
        'texts, dates and booleans.',
      { cause: error },
    );
  }
}

function readColumns(bytes: Buffer, source: string) {
  const { fields, dictionaries, batches } = readArrowFile(bytes);
  const length = batches.reduce((sum, { rows }) => sum + rows, 0);
  checkRows([...batches, ...dictionaries.map(({ batch }) => batch)]);
  checkSize(source, length, fields.length);
  const budget = { bytes: 0 };
  const known = new Map<number, Cell[]>();
  for (const dictionary of dictionaries) addDictionary(known, fields, dictionary, { source, budget });
  const columns = fields.map((): Cell[] => []);
  for (const batch of batches) {
    if (batch.nodes.length !== fields.length)
      throw new Error(`a batch has ${batch.nodes.length} of ${fields.length} columns`);
    const buffers = new Buffers(batch, budget);
    fields.forEach((field, i) => {
      for (const cell of readColumn(field, batch.rows, buffers, dictionaryOf(field, known))) columns[i].push(cell);
    });
  }
  return { names: fields.map(({ name }) => name), columns, length };
}

function checkRows(batches: readonly ArrowBatch[]): void {
  for (const { rows, nodes } of batches) {
    const wrong = nodes.find((node) => node.rows !== rows);
    if (rows < 0 || wrong !== undefined) throw new Error(`a batch of ${rows} rows has a column of ${wrong?.rows ?? 0}`);
  }
}

function dictionaryOf({ name, indices }: ArrowField, known: ReadonlyMap<number, Cell[]>): readonly Cell[] | null {
  if (indices === null) return null;
  const dictionary = known.get(indices.id);
  if (dictionary === undefined) throw new Error(`column "${name}" lacks its dictionary`);
  return dictionary;
}

/**
 * Adds the values of a dictionary that a column uses. A file has one dictionary for each column, and perhaps more
 * values of it.
 */
function addDictionary(
  known: Map<number, Cell[]>,
  fields: readonly ArrowField[],
  { id, isMore, batch }: ArrowDictionary,
  { source, budget }: { source: string; budget: { bytes: number } },
): void {
  const field = fields.find(({ indices }) => indices?.id === id);
  if (field === undefined) return;
  const before = isMore ? (known.get(id) ?? []) : [];
  checkSize(source, before.length + batch.rows, 1);
  const values = readColumn({ ...field, indices: null }, batch.rows, new Buffers(batch, budget), null);
  known.set(id, [...before, ...values]);
}
