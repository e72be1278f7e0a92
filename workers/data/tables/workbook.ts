import { keyOf, quoted } from '../../../core/preprocessing/column-findings.ts';
import type { Finding } from '../../../core/preprocessing/profile.ts';
import type { TableReading } from '../../../core/preprocessing/reading.ts';
import { formatCount } from '../../../core/text/numbers.ts';
import { type Doubt, refuseDoubts } from '../notes.ts';
import type { IsMissing, RawColumn, RawTable } from './cells.ts';
import { checkSize, GatheredRows } from './raw-table.ts';
import type { DelimitedOptions } from './reading/table-beginning.ts';
import { type Area, areaOf, lettersOf, mostColumns, mostRows, type SheetCells, SheetReader } from './sheet-rows.ts';
import { openWorkbook, type Sheet, type Workbook } from './workbook-parts.ts';

/** Which cells of a workbook are the table. */
export interface WorkbookOptions {
  /** Of a workbook: the name of the sheet, or its position from 1. Default: the only one that has values. */
  sheet?: string | number;
  /** Of a workbook: the table's cells, as `B3:F200`, or `B3:F` and `B:F` where all rows below belong to it. */
  range?: string;
}

type ParseOptions = WorkbookOptions & Pick<DelimitedOptions, 'header'> & { reading?: TableReading };

/** A table, and where it is. */
interface ParsedWorkbook {
  raw: RawTable;
  sheet: string;
  range: string | null;
}

/** A file of some kilobytes can name a table of so many empty cells that they fill the memory. */
const mostGaps = 2 ** 26;
/** Sheets with more values are all large. */
const mostCounted = 10_000;
/** More names are not shown. */
const mostShown = 5;
/** Areas of merged cells that overlap, as no program writes them, could be filled for ever. */
const mostMerged = 2 ** 26;

/**
 * Reads the table in a sheet of a workbook (`.xlsx`). A cell is what the program that wrote it had calculated; dates
 * become ISO 8601 texts, and errors such as `#N/A` count as missing. Merged cells have the value of the first one.
 * Rows without a value of their own are left out.
 * @throws Error that names file, sheet, cell and remedy for what cannot be read
 */
export async function parseWorkbook(
  bytes: Buffer,
  file: string,
  isMissing: IsMissing,
  options: ParseOptions,
): Promise<ParsedWorkbook> {
  const workbook = await openWorkbook(bytes, file);
  const { sheet, unread } = await chooseSheet(workbook, file, options);
  const { reading } = options;
  const place = `${file}, sheet ${JSON.stringify(sheet.name)}`;
  let range = (reading ?? options).range ?? null;
  const read = async (): Promise<SheetCells> =>
    new SheetReader(workbook, place, areaFor(range, file, reading)).read(sheet);
  let cells = await read();
  const doubt = range === null ? unclearRange(place, cells) : null;
  if (doubt !== null) {
    refuseDoubts(file, [doubt]);
    [range] = doubt.choices;
    cells = await read();
  }
  const source = { file, place, area: areaFor(range, file, reading), isRange: range !== null, unread };
  const { header } = reading ?? options;
  return { raw: tableOf(cells, source, isMissing, header ?? 'auto'), sheet: sheet.name, range };
}

function areaFor(range: string | null, file: string, reading: TableReading | undefined): Area {
  const area = range === null ? { top: 1, left: 1, bottom: mostRows, right: mostColumns } : areaOf(range, file);
  // A later file has its own number of rows.
  return reading === undefined ? area : { ...area, bottom: mostRows };
}

/**
 * The sheet that the user names, that the training table was in, or the only one with values.
 * @returns it, and hidden sheets with values
 */
async function chooseSheet(workbook: Workbook, file: string, { sheet, reading }: ParseOptions) {
  const { sheets } = workbook;
  const names = sheets.map(({ name }) => JSON.stringify(name)).join(', ');
  if (sheets.length === 0) throw new Error(`${file} has no sheet of cells.`);
  const wanted = reading === undefined ? sheet : (reading.sheet ?? undefined);
  if (wanted !== undefined) {
    const position = reading === undefined && /^\d{1,6}$/.test(String(wanted)) ? Number(wanted) : 0;
    const own = sheets.find(({ name }) => name === wanted) ?? sheets[position - 1];
    if (own !== undefined) return { sheet: own, unread: [] };
    if (reading === undefined) {
      throw new Error(`${file} has no sheet ${JSON.stringify(wanted)}. Its sheets are ${names}.`);
    }
  }
  const counts = new Map<Sheet, number>();
  for (const own of sheets) counts.set(own, await countValues(workbook, own));
  const countOf = (own: Sheet): number => counts.get(own) ?? 0;
  // A sheet of notes has fewer values than a table.
  const filled = sheets.filter((own) => countOf(own) > 0).sort((a, b) => countOf(b) - countOf(a));
  const visible = filled.filter(({ isVisible }) => isVisible);
  const possible = visible.length > 0 ? visible : filled;
  if (possible.length > 1) {
    const asBefore = wanted === undefined ? '' : `, or call the table's ${JSON.stringify(wanted)}, as in training`;
    if (reading !== undefined) throw new Error(`${file} has the sheets ${names}. Give one of them alone${asBefore}.`);
    refuseDoubts(file, [severalSheets(file, possible)]);
  }
  return { sheet: possible[0] ?? sheets[0], unread: filled.filter((own) => !own.isVisible && own !== possible[0]) };
}

function severalSheets(file: string, filled: readonly Sheet[]): Doubt {
  const choices = filled.map(({ name }) => name);
  const shown = choices.map((name) => JSON.stringify(name)).join(', ');
  const option = `sheet: ${quoted(choices[0])}`;
  const message = `${file} has ${filled.length} sheets with values: ${shown}. A table is in one of them.`;
  return {
    kind: 'sheet',
    column: null,
    message,
    remedy: `Say which: readTable(file, { ${option} }).`,
    choices,
    option,
  };
}

/** How many values a sheet has, counted up to {@link mostCounted}. */
async function countValues(workbook: Workbook, { part }: Sheet): Promise<number> {
  let count = 0;
  await workbook.read(part, (stop) => ({
    open(name) {
      if ((name === 'v' || name === 'is' || name === 'f') && ++count >= mostCounted) stop();
    },
    // Below the cells are rules and drawings, which have elements of these names too.
    close: (name) => (name === 'sheetData' ? stop() : undefined),
  }));
  return count;
}

/**
 * A title above a table, or a note beside it, are no part of it: whether a row has more cells than the first one, which
 * has the names. As wide as the table is what most rows have.
 */
function unclearRange(place: string, { rows }: SheetCells): (Doubt & { choices: string[] }) | null {
  const [first] = rows;
  const wider = rows.find(({ cells }) => cells.length > first.cells.length);
  if (wider === undefined) return null;
  const counts = new Map<number, number>();
  for (const { cells } of rows) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  const [[usual]] = [...counts].sort(([a, m], [b, n]) => n - m || b - a);
  const names = rows.find(({ filled }) => 2 * filled > usual) ?? first;
  const widest = Math.max(...counts.keys());
  const ranges = [
    `A${names.number}:${lettersOf(Math.max(usual, names.cells.length))}`,
    `A${first.number}:${lettersOf(widest)}`,
  ];
  const choices = [...new Set(ranges)];
  const option = `range: ${quoted(choices[0])}`;
  const message =
    `${place}, row ${wider.number}: ${lettersOf(wider.cells.length)}${wider.number} has a value, but row ` +
    `${first.number}, the first one, ends in column ${lettersOf(first.cells.length)}. Other values seem to stand ` +
    'around the table, or names are absent.';
  const remedy = `Remove or add them, or say which cells are the table: readTable(file, { ${option} }).`;
  return { kind: 'range', column: null, message, remedy, choices, option };
}

/** Where cells are from. */
interface CellsSource {
  file: string;
  /** File and sheet, for messages. */
  place: string;
  area: Area;
  /** Whether the user named the area. */
  isRange: boolean;
  /** Hidden sheets that were not read. */
  unread: readonly Sheet[];
}

/** The rows as a table, in which columns count from the area's first one. */
function tableOf(cells: SheetCells, source: CellsSource, isMissing: IsMissing, header: boolean | 'auto'): RawTable {
  const { file, place, area } = source;
  const { rows } = cells;
  const isBounded = source.isRange && area.right < mostColumns;
  const width = isBounded
    ? area.right - area.left + 1
    : Math.max(0, ...rows.slice(0, 1).map((row) => row.cells.length));
  requireFilled(cells, place, width);
  const filled = fillMerged(cells, { ...area, right: area.left + width - 1 }, place, header === false ? 0 : 1);
  const gathered = new GatheredRows(place, (cell) => isMissing(cell) || cells.errors.has(String(cell)));
  for (const row of rows) {
    const fields = Array.from({ length: width }, (_, at) => row.cells[at] ?? null);
    gathered.add({ fields, place: () => `${place}, row ${row.number}` });
  }
  const { columns, nameless, length, hasNames } = gathered.finish(header);
  const before = rows.length - length;
  return {
    source: file,
    columns,
    length,
    hasNames,
    nameless,
    emptyRows: rows.slice(1).flatMap(({ number }, i) => {
      return Array.from({ length: number - rows[i].number - 1 }, () => i + 1 - before);
    }),
    placeOf: (row) => `${place}, row ${rows[row + before].number}`,
    lettersOf: (column) => lettersOf(area.left + column),
    findings: findingsOf(cells, columns, source, filled),
  };
}

/** @throws Error where a table is larger, or emptier, than what is read */
function requireFilled({ rows }: SheetCells, place: string, width: number): void {
  checkSize(place, rows.length, width);
  const gaps = rows.reduce((sum, row) => sum + width - row.filled, 0);
  if (gaps <= mostGaps) return;
  throw new Error(
    `${place} has ${gaps} cells without a value in ${rows.length} rows, and at most ${mostGaps} are read. Name the ` +
      "table's cells with range, or save it as .csv.",
  );
}

/** Gives all cells of a merged area the value of its first one, below the names. @returns how many */
function fillMerged({ rows, merged }: SheetCells, area: Area, place: string, from: number): number {
  const positions = new Map(rows.map(({ number }, i) => [number, i]));
  let [filled, visited] = [0, 0];
  for (const { top, left, bottom, right } of merged) {
    const at = positions.get(top) ?? rows.length;
    const value = rows[at]?.cells[left - area.left] ?? null;
    if (value === null) continue;
    for (let i = at; i < rows.length && rows[i].number <= bottom; i++) {
      visited += right - left + 1;
      if (visited > mostMerged) throw new Error(`${place}: merged cells overlap. Save the workbook again.`);
      const { cells } = rows[i];
      const last = i < from ? -1 : Math.min(right, area.right) - area.left;
      for (let column = left - area.left; column <= last; column++) {
        if ((cells[column] ?? null) !== null) continue;
        cells[column] = value;
        filled++;
      }
    }
  }
  return filled;
}

/** What the sheet hides or holds, and no row of the table shows. */
function findingsOf(
  { rows, hidden, errors, formulas }: SheetCells,
  columns: readonly RawColumn[],
  { area, unread }: CellsSource,
  filled: number,
): Finding[] {
  const found: Finding[] = [];
  const add = (level: Finding['level'], kind: Finding['kind'], message: string, option: string | null = null): void => {
    found.push({ level, kind, column: null, message, choices: null, option });
  };
  if (unread.length > 0) {
    const shown = listOf(unread.map(({ name }) => name));
    add('note', 'sheet', `Hidden, and not read: sheet ${shown}.`, `sheet: ${quoted(unread[0].name)}`);
  }
  const hiddenRows = rows.filter(({ isHidden }) => isHidden).length;
  if (hiddenRows > 0) {
    const count = hiddenRows === 1 ? '1 row' : `${formatCount(hiddenRows)} rows`;
    add('warning', 'hidden', `Hidden in the workbook, perhaps by a filter, and read as well: ${count}.`);
  }
  const isHidden = (at: number): boolean => hidden.some(({ left, right }) => at >= left && at <= right);
  const names = columns.flatMap(({ name }, i) => (isHidden(area.left + i) ? [name] : []));
  if (names.length > 0) {
    const option = `columns: { ${names.map((name) => `${keyOf(name)}: 'ignore'`).join(', ')} }`;
    add('warning', 'hidden', `Hidden in the workbook, and read as well: column ${listOf(names)}.`, option);
  }
  if (filled > 0) {
    add('note', 'merged', `Filled with the value of the cell with which they are merged: ${cellsOf(filled)}.`);
  }
  if (formulas > 0) {
    add('note', 'formulas', `Formulas, of which the stored result is read: ${cellsOf(formulas)}.`);
  }
  const wrong = [...errors].map(([text, count]) => `${text} ${formatCount(count)}`);
  if (wrong.length > 0) {
    add('warning', 'cell-errors', `Errors of the workbook's formulas, which count as missing: ${wrong.join(', ')}.`);
  }
  return found;
}

const cellsOf = (count: number): string => (count === 1 ? '1 cell' : `${formatCount(count)} cells`);

function listOf(names: readonly string[]): string {
  const shown = names.slice(0, mostShown).map((name) => JSON.stringify(name));
  return shown.join(', ') + (names.length > mostShown ? ', ...' : '');
}
