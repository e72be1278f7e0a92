import { constants } from 'node:buffer';
import { posix } from 'node:path';
import { Parser } from 'saxen';
import { messageOf } from '../../../core/text/errors.ts';
import { decodeText } from '../../../core/text/text-encoding.ts';
import { oleMark, type OpenZip, openZip } from './unpack.ts';

/**
 * The parts of a workbook (`.xlsx`, ECMA-376): a ZIP archive of XML files. Relationships say where each part is, cells
 * keep texts as positions in a shared list, and dates as numbers with a style that shows them as dates.
 */

/** A sheet of cells. */
export interface Sheet {
  name: string;
  isVisible: boolean;
  /** The name of its part in the archive. */
  part: string;
}

/** An opened workbook. */
export interface Workbook {
  /** In the order of its tabs, without charts. */
  sheets: readonly Sheet[];
  /** The texts to which cells of the type `s` point. */
  texts: readonly string[];
  /** Whether cells of a style show dates, by the style's position. */
  areDates: readonly boolean[];
  /** Whether days count from 1904-01-01 on, as in files of older Macs. */
  isFrom1904: boolean;
  /** Reads a part. @throws Error that names file and part where it is absent, or no XML */
  read(part: string, events: (stop: () => void) => XmlEvents): Promise<void>;
}

/** What happens in a part; names are those without the prefix of a namespace. */
interface XmlEvents {
  open?: (name: string, attributes: () => Record<string, string>) => void;
  close?: (name: string) => void;
  text?: (text: string) => void;
}

type ReadPart = Workbook['read'];

/** What a relationship of a part says. */
interface Relation {
  id: string;
  /** The last word of its address: `worksheet`. */
  type: string;
  /** The name of the other part. */
  target: string;
}

const millisecondsPerDay = 86_400_000;
/** The day after 9999-12-31. */
const endOfDays = Date.UTC(10_000, 0, 1);
/** Built-in formats that show a year, a month or a day, also those of East Asia (ECMA-376 part 1, 18.8.30). */
const builtInDates = new Set([14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58]);
const namedEntities: Record<string, string> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' };

/**
 * Opens a workbook's archive, and reads all parts but its sheets.
 * @throws Error that names the file and the remedy for what is no such workbook, is encrypted or damaged
 */
export async function openWorkbook(bytes: Buffer, file: string): Promise<Workbook> {
  refuseOle(bytes, file);
  const zip = await openZip(bytes, file);
  const read: ReadPart = async (part, events) => readXml(zip, file, part, events);
  const main = (await relationsOf(zip, read, '')).find(({ type }) => type === 'officeDocument')?.target;
  if (main === undefined)
    throw new Error(`${file} is a ZIP archive, but no workbook. Save its table as .xlsx or .csv.`);
  if (main.endsWith('.bin')) throw new Error(`${file} is a binary workbook (.xlsb). Save it as .xlsx.`);
  const relations = await relationsOf(zip, read, main);
  const partOf = (wanted: string) => relations.find(({ type }) => type === wanted)?.target ?? null;
  const found = await findSheets(read, main);
  const sheets = found.sheets.flatMap(({ id, ...sheet }): Sheet[] => {
    const relation = relations.find((own) => own.id === id);
    if (relation === undefined) {
      throw new Error(`${file} does not say which part is its sheet ${JSON.stringify(sheet.name)}. Save it again.`);
    }
    return relation.type === 'worksheet' ? [{ ...sheet, part: relation.target }] : [];
  });
  const [texts, areDates] = [
    await readTexts(read, partOf('sharedStrings')),
    await readDateStyles(read, partOf('styles')),
  ];
  return { sheets, texts, areDates, isFrom1904: found.isFrom1904, read };
}

/** Old and encrypted workbooks are both compound files of OLE. */
function refuseOle(bytes: Buffer, file: string): void {
  if (!bytes.subarray(0, oleMark.length).equals(oleMark)) return;
  const isEncrypted = bytes.includes(Buffer.from('EncryptedPackage', 'utf16le'));
  throw new Error(
    isEncrypted
      ? `${file} is protected by a password. Open it, and save a copy without one.`
      : `${file} is a workbook in the old format (.xls). Open it, and save it as .xlsx.`,
  );
}

async function readXml(
  zip: OpenZip,
  file: string,
  part: string,
  events: (stop: () => void) => XmlEvents,
): Promise<void> {
  // Names of parts differ in more than their case (ECMA-376 part 2, 6.2.2.3).
  const name = zip.names.find((own) => own.toLowerCase() === part.toLowerCase()) ?? part;
  const bytes = await zip.read(name);
  if (bytes.length > constants.MAX_STRING_LENGTH) {
    throw new Error(`${file}: ${name} has ${bytes.length} bytes, which is too large. Save its table as .csv.`);
  }
  const parser = new Parser();
  const { open, close, text } = events(() => parser.stop());
  const refuse = (problem: Error | string) => {
    const what = typeof problem === 'string' ? `it has ${problem.slice(0, 40)}` : messageOf(problem);
    throw new Error(`${file}: ${name} is not the XML of a workbook: ${what}. Save or copy the workbook again.`);
  };
  parser.on('error', refuse).on('warn', refuse).on('attention', refuse);
  if (open) parser.on('openTag', (tag, attributes) => open(localName(tag), attributes));
  if (close) parser.on('closeTag', (tag) => close(localName(tag)));
  if (text) parser.on('text', (own) => text(decodeEntities(own))).on('cdata', text);
  parser.parse(decodeText(bytes, `${file}: ${name}`));
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** XML's own entities and characters by their number; nothing else has a meaning in a workbook. */
function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|apos|gt|lt|quot));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return namedEntities[String(name).toLowerCase()];
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}

/** The relationships of a part, `''` for those of the archive; none where it has no such list. */
async function relationsOf(zip: OpenZip, read: ReadPart, part: string): Promise<Relation[]> {
  const { dir, base } = posix.parse(part);
  const list = posix.join(dir, '_rels', `${base}.rels`);
  const relations: Relation[] = [];
  if (!zip.names.some((name) => name.toLowerCase() === list.toLowerCase())) return relations;
  await read(list, () => ({
    open(name, attributes) {
      if (name !== 'Relationship') return;
      const { Id: id = '', Type: type = '', Target: target = '' } = attributes();
      const path = posix.join('/', dir, decodeEntities(target)).slice(1);
      relations.push({
        id,
        type: type.slice(type.lastIndexOf('/') + 1),
        target: target.startsWith('/') ? decodeEntities(target).slice(1) : path,
      });
    },
  }));
  return relations;
}

async function findSheets(read: ReadPart, part: string) {
  const sheets: (Omit<Sheet, 'part'> & { id: string })[] = [];
  let isFrom1904 = false;
  await read(part, () => ({
    open(name, attributes) {
      if (name === 'workbookPr') isFrom1904 = isTrue(attributes().date1904);
      if (name !== 'sheet') return;
      const own = attributes();
      const id = Object.entries(own).find(([key]) => key.endsWith(':id'))?.[1] ?? '';
      sheets.push({ id, name: decodeEntities(own.name ?? ''), isVisible: (own.state ?? 'visible') === 'visible' });
    },
  }));
  return { sheets, isFrom1904 };
}

const isTrue = (text: string | undefined): boolean => text === '1' || text === 'true';

/** The shared texts. A text may have runs of several fonts, which are joined, and a reading aid, which is left out. */
async function readTexts(read: ReadPart, part: string | null): Promise<string[]> {
  const texts: string[] = [];
  if (part === null) return texts;
  let own = '';
  const run = new TextRun((text) => (own += text));
  await read(part, () => ({
    open(name) {
      if (name === 'si') own = '';
      run.open(name);
    },
    text: (text) => run.add(text),
    close(name) {
      run.close(name);
      if (name === 'si') texts.push(unescapeText(own));
    },
  }));
  return texts;
}

/** Hands on the text of the elements `t` and `v` that is no reading aid (`rPh`). */
export class TextRun {
  readonly #add: (text: string) => void;
  #isText = false;
  #isAid = false;

  constructor(add: (text: string) => void) {
    this.#add = add;
  }

  open(name: string): void {
    if (name === 'rPh') this.#isAid = true;
    else if (name === 't' || name === 'v') this.#isText = true;
  }

  add(text: string): void {
    if (this.#isText && !this.#isAid) this.#add(text);
  }

  close(name: string): void {
    if (name === 'rPh') this.#isAid = false;
    else if (name === 't' || name === 'v') this.#isText = false;
  }
}

/** `_x000D_` stands for the character with that number, which XML cannot hold (ECMA-376 part 1, 22.9.2.19). */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([\dA-F]{4})_/gi, (_, hex) => String.fromCharCode(Number.parseInt(String(hex), 16)));
}

/** Which styles of cells show dates. */
async function readDateStyles(read: ReadPart, part: string | null): Promise<boolean[]> {
  const areDates: boolean[] = [];
  if (part === null) return areDates;
  const codes = new Map<number, string>();
  let isCellStyle = false;
  await read(part, () => ({
    open(name, attributes) {
      if (name === 'cellXfs') isCellStyle = true;
      if (name === 'numFmt') codes.set(Number(attributes().numFmtId), decodeEntities(attributes().formatCode ?? ''));
      if (name !== 'xf' || !isCellStyle) return;
      const format = Number(attributes().numFmtId ?? 0);
      const code = codes.get(format);
      areDates.push(code === undefined ? builtInDates.has(format) : showsDate(code));
    },
    close(name) {
      if (name === 'cellXfs') isCellStyle = false;
    },
  }));
  return areDates;
}

/** Whether a number format shows a day, a month or a year; a time of day or a duration alone is a number of days. */
export function showsDate(code: string): boolean {
  const plain = code
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, '')
    .replaceAll(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '')
    .replaceAll(/general|e[+-]|am\/pm|a\/p/gi, '');
  const [section] = plain.split(';');
  return /[yde]/i.test(section) || (/m/i.test(section) && !/[hs]|\[/i.test(section));
}

/**
 * A serial number as an ISO 8601 date, with the time where it has one; null where it is none. The 1900 system has a
 * 29 February 1900 (60), which never was: the days in front of it count from 1900-01-01 (1), those behind it from
 * 1899-12-30 (0).
 */
export function dateOfSerial(serial: number, isFrom1904: boolean): string | null {
  const first = isFrom1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, serial < 60 ? 31 : 30);
  const time = first + Math.round(serial * millisecondsPerDay);
  if (!(time >= first + (isFrom1904 ? 0 : millisecondsPerDay)) || time >= endOfDays) return null;
  if (!isFrom1904 && Math.floor(serial) === 60) return '1900-02-29';
  const text = new Date(time).toISOString();
  return text.slice(0, 10) + (text.endsWith('T00:00:00.000Z') ? '' : text.slice(10, text.endsWith('.000Z') ? 19 : 23));
}
