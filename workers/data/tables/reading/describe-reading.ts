import { basename } from 'node:path';
import type { ColumnReading, TableReading } from '../../../../core/preprocessing/reading.ts';
import type { Cells, RawTable } from '../cells.ts';
import { categoryText, type ColumnType, readCell } from '../columns.ts';
import type { ChosenColumn } from './choose-columns.ts';

/** What a file's bytes are, and how they became cells. */
export type FileReading = Pick<
  TableReading,
  'encoding' | 'hasMark' | 'delimiter' | 'sheet' | 'range' | 'header' | 'comments'
>;

/** Names that pandas and R's readr give to columns without one. */
const givenName = /^(?:Unnamed: \d+|\.\.\.\d+)$/;
/** Fewer rows say nothing of a column. */
const leastRows = 3;

/**
 * The columns that no model learns from: those that the user ignores, and those without a name that are empty, or that
 * name the rows.
 */
export function leftOutColumns(
  { columns, nameless = [], hasNames, length }: RawTable,
  types: ReadonlyMap<string, ColumnType | 'ignore'>,
): TableReading['leftOut'] {
  const reasonFor = (i: number): TableReading['leftOut'][number]['reason'] | null => {
    const { name, cells } = columns[i];
    const type = types.get(name);
    if (type !== undefined) return type === 'ignore' ? 'ignored' : null;
    const isNameless = nameless.includes(i) || givenName.test(name);
    if ((isNameless || !hasNames) && cells.present === 0) return 'empty';
    return isNameless && i === 0 && length >= leastRows && areRowNames(cells) ? 'row-names' : null;
  };
  return columns.flatMap(({ name }, i) => {
    const reason = reasonFor(i);
    return reason === null ? [] : [{ name, position: i + 1, reason }];
  });
}

/** Whether cells are whole numbers or texts of which each occurs once. */
function areRowNames(cells: Cells): boolean {
  const areNames = cells.every((cell) => {
    const number = readCell(cell, 'number', { numberFormat: null, dateFormat: null });
    return number === null ? typeof cell === 'string' : Number.isInteger(number);
  });
  return areNames && cells.distinct() === cells.length;
}

/** How a file was read. @param chosen one for each column; null: left out */
export function describeReading(
  raw: RawTable,
  about: FileReading & Pick<TableReading, 'missingValues' | 'leftOut'>,
  chosen: readonly (ChosenColumn | null)[],
): TableReading {
  const columns = chosen.flatMap((how, i) => (how === null ? [] : [columnReading(raw, i, how)]));
  return { file: basename(raw.source), rows: raw.length, ...about, emptyRows: raw.emptyRows?.length ?? 0, columns };
}

function columnReading(
  { columns }: RawTable,
  index: number,
  { type, numberFormat, dateFormat, ignoresCase }: ChosenColumn,
): ColumnReading {
  const { name, cells, missing } = columns[index];
  const isText = type === 'category' || type === 'text';
  return {
    name,
    position: index + 1,
    type,
    numberFormat,
    dateFormat,
    missing: Object.fromEntries(missing),
    distinct: isText ? distinctTexts(cells, { ignoresCase }) : null,
    ...(ignoresCase && { ignoresCase }),
    countsRows: type === 'number' && countRows(cells),
  };
}

function distinctTexts(cells: Cells, format: Pick<ChosenColumn, 'ignoresCase'>): number {
  const found = new Set<string>();
  for (const cell of cells.values()) found.add(categoryText(String(cell), format));
  return found.size;
}

function countRows(cells: Cells): boolean {
  const first = Number(cells.at(0));
  if (cells.present < cells.length || cells.length < leastRows || (first !== 0 && first !== 1)) return false;
  for (let row = 0; row < cells.length; row++) if (Number(cells.at(row)) !== first + row) return false;
  return true;
}
