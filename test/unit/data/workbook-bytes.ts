import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/**
 * Makes workbooks (`.xlsx`) from XML that is written here by hand after ECMA-376, so that what is expected of a reader
 * does not come from another program.
 */

/** A value, or the XML of a cell at a place such as `B3`; null: there is no cell. */
export type CellContent = number | string | boolean | null | ((place: string) => string);

export interface SheetContent {
  name: string;
  rows: readonly (readonly CellContent[])[];
  state?: 'visible' | 'hidden' | 'veryHidden';
  /** Row numbers, from 1. */
  hiddenRows?: readonly number[];
  /** XML in front of the cells, and below them. */
  before?: string;
  after?: string;
}

export interface WorkbookContent {
  sheets: readonly SheetContent[];
  isFrom1904?: boolean;
  /** Parts by their names in place of the usual ones; null: absent. */
  parts?: Readonly<Record<string, string | Buffer | null>>;
}

/** Styles that show a day, a day and a time, and a time. */
export const [dayStyle, momentStyle, clockStyle] = [1, 2, 3];

/** A cell of a number that a style shows as a date or a time. */
export const dated =
  (serial: number, style = dayStyle) =>
  (place: string): string =>
    `<c r="${place}" s="${style}"><v>${serial}</v></c>`;

/** A cell of an error, such as `#N/A`. */
export const failed =
  (error: string) =>
  (place: string): string =>
    `<c r="${place}" t="e"><v>${error}</v></c>`;

/** A cell of a formula with its stored result. */
export const calculated =
  (formula: string, result: number) =>
  (place: string): string =>
    `<c r="${place}"><f>${formula}</f><v>${result}</v></c>`;

/** The bytes of a workbook. */
export async function workbookBytes({ sheets, isFrom1904 = false, parts = {} }: WorkbookContent): Promise<Buffer> {
  const texts: string[] = [];
  const own: Record<string, string | Buffer | null> = {
    '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    '_rels/.rels': relations([['officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': workbookXml(sheets, isFrom1904),
    'xl/_rels/workbook.xml.rels': relations([
      ...sheets.map((_, i): [string, string] => ['worksheet', `worksheets/sheet${i + 1}.xml`]),
      ['sharedStrings', 'sharedStrings.xml'],
      ['styles', 'styles.xml'],
    ]),
    ...Object.fromEntries(sheets.map((sheet, i) => [`xl/worksheets/sheet${i + 1}.xml`, sheetXml(sheet, texts)])),
    'xl/styles.xml': stylesXml,
    'xl/sharedStrings.xml': `<sst>${texts.map((text) => `<si><t>${escaped(text)}</t></si>`).join('')}</sst>`,
    ...parts,
  };
  const zip = new ZipFile();
  for (const [name, xml] of Object.entries(own)) {
    const bytes = typeof xml === 'string' ? Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}`) : xml;
    if (bytes !== null) zip.addBuffer(bytes, name);
  }
  zip.end();
  return buffer(zip.outputStream);
}

/** The bytes of a workbook of one sheet, `data`. */
export async function sheetBytes(rows: SheetContent['rows'], sheet: Partial<SheetContent> = {}): Promise<Buffer> {
  return workbookBytes({ sheets: [{ name: 'data', rows, ...sheet }] });
}

const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

function relations(all: readonly [type: string, target: string][]): string {
  const own = all.map(
    ([type, target], i) => `<Relationship Id="rId${i + 1}" Type="${office}/${type}" Target="${target}"/>`,
  );
  return `<Relationships>${own.join('')}</Relationships>`;
}

function workbookXml(sheets: readonly SheetContent[], isFrom1904: boolean): string {
  const own = sheets.map(
    ({ name, state = 'visible' }, i) =>
      `<sheet name="${escaped(name)}" sheetId="${i + 1}" state="${state}" r:id="rId${i + 1}"/>`,
  );
  return `<workbook><workbookPr date1904="${isFrom1904 ? 1 : 0}"/><sheets>${own.join('')}</sheets></workbook>`;
}

/** Built-in format 14 is `mm-dd-yy`; 164 is the first number of a workbook's own formats. */
const stylesXml =
  '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/>' +
  '<numFmt numFmtId="165" formatCode="h:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>' +
  '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>';

function sheetXml({ rows, hiddenRows = [], before = '', after = '' }: SheetContent, texts: string[]): string {
  const xml = rows.map((cells, i) => {
    const hidden = hiddenRows.includes(i + 1) ? ' hidden="1"' : '';
    const own = cells.map((cell, column) => cellXml(cell, `${String.fromCharCode(65 + column)}${i + 1}`, texts));
    return `<row r="${i + 1}"${hidden}>${own.join('')}</row>`;
  });
  return `<worksheet>${before}<sheetData>${xml.join('')}</sheetData>${after}</worksheet>`;
}

function cellXml(cell: CellContent, place: string, texts: string[]): string {
  if (cell === null) return '';
  if (typeof cell === 'function') return cell(place);
  if (typeof cell === 'number') return `<c r="${place}"><v>${cell}</v></c>`;
  if (typeof cell === 'boolean') return `<c r="${place}" t="b"><v>${cell ? 1 : 0}</v></c>`;
  const known = texts.indexOf(cell);
  return `<c r="${place}" t="s"><v>${known < 0 ? texts.push(cell) - 1 : known}</v></c>`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
