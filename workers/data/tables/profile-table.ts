import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Misfits, profileColumn } from '../../../core/preprocessing/column-profile.ts';
import { byLevel, type Finding, type ProfiledColumn, type TableProfile } from '../../../core/preprocessing/profile.ts';
import { isClock } from '../../../core/preprocessing/reading.ts';
import { namesImages } from '../../../core/preprocessing/column-findings.ts';
import { findFindings, proposeTarget } from '../../../core/preprocessing/profile-findings.ts';
import { noFeatures, rolesOf } from '../../../core/preprocessing/plans/project-plan.ts';
import {
  namesSplits,
  namesSplitsOfImages,
  readSplits,
  splitFindings,
} from '../../../core/preprocessing/split-column.ts';
import { describeTimes, zoneOf } from '../../../core/preprocessing/time-findings.ts';
import { dataFormatOf } from '../../../core/preprocessing/data-formats.ts';
import type { InspectProgress } from '../../../core/protocol/run/inspect-task.ts';
import { isLikeUtf32, isNamedUtf8, markOf } from '../../../core/text/text-encoding.ts';
import { withQuestions } from '../notes.ts';
import type { Cells, RawTable } from './cells.ts';
import { placeOfColumn, readCell, typedColumn } from './columns.ts';
import { type ReadTableOptions, understandTable } from './read-table.ts';
import type { ChosenColumn } from './reading/choose-columns.ts';
import { noColumn } from './table.ts';
import { firstRows, isPlainlyUtf8 } from './table-readers.ts';
import { isWorkbook, unpackTable } from './unpack.ts';

/** How to inspect a table. */
export interface ProfileOptions extends Omit<ReadTableOptions, 'reading' | 'name'> {
  /** The column to predict; proposed by default. */
  target?: string;
  /** Columns to predict beside it. */
  furtherTargets?: readonly string[];
  /** The column of the time; proposed by default where rows are the steps of a series. */
  time?: string;
  /** The column that names images; by default one whose values end so. */
  image?: string;
  /** The column that names the splits of rows or images; by default one whose values are called so. */
  split?: string;
}

/** A profile, and what it was made of. */
export interface InspectedTable {
  profile: TableProfile;
  values: readonly ProfiledColumn[];
  /** The columns that name images and give their splits. */
  image: string | null;
  split: string | null;
}

const mostMisfits = 5;
/** So much of a large file shows at once what is in it. */
const mostSampleBytes = 2 ** 22;
/** The encoding of text that is not UTF-8, by far the most frequent one in files of Excel. */
const usualOtherEncoding = 'windows-1252';
const otherEncodings = ['iso-8859-2', 'windows-1251', 'macintosh', 'shift_jis', 'gb18030'];

/**
 * What is in a table's file: read as {@link understandTable} reads it for training, apart from what would be refused.
 * There one reading is assumed, and the others are a question.
 * @throws Error that names file, place and value of what is no table
 */
export async function profileTable(
  file: string,
  options: ProfileOptions = {},
  tell: (progress: InspectProgress) => void = () => undefined,
): Promise<TableProfile> {
  return (await inspectTable(file, options, tell)).profile;
}

/** As {@link profileTable}, with the values. */
export async function inspectTable(
  file: string,
  options: ProfileOptions,
  tell: (progress: InspectProgress) => void,
): Promise<InspectedTable> {
  const tellDoing = (doing: string): void => tell({ doing, sample: null });
  const rows = await firstRows(file, mostSampleBytes);
  if (rows !== null) tell({ doing: '0 % read', sample: await profileSample(rows, file, options) });
  return profileBytes(await readFile(file), file, options, tellDoing);
}

/** A profile of the rows at the beginning of a file; null where they are no table, which the whole file may be. */
async function profileSample(rows: Buffer, file: string, options: ProfileOptions): Promise<TableProfile | null> {
  const inspected = await profileBytes(rows, file, options).catch(() => null);
  return inspected && { ...inspected.profile, bytes: (await stat(file)).size, sampleBytes: rows.length };
}

async function profileBytes(
  content: Buffer,
  file: string,
  { target, furtherTargets = [], time: ofTime, image: ofImage, split: ofSplit, ...given }: ProfileOptions,
  tell: (doing: string) => void = () => undefined,
): Promise<InspectedTable> {
  // Messages name the file as people know it: a page may have sent it into a folder that says nothing to them.
  const { bytes, file: name } = await unpackTable(content, basename(file));
  const { encoding, question } = encodingOf(bytes, name, given);
  const own = encoding === undefined ? given : { ...given, encoding };
  const { result, questions } = await withQuestions(() => understandTable(bytes, name, own), tell);
  const { raw, chosen, reading } = result;
  const read = chosen.flatMap((how, i) => (how === null ? [] : [lenientColumn(raw, i, how)]));
  const columns = reading.columns.map((known, i) => {
    tell(`summing up column ${i + 1} of ${reading.columns.length}`);
    return profileColumn(known, read[i].column, read[i].misfits);
  });
  const names = columns.map(({ name }) => name);
  const said = [target, ...furtherTargets, ofTime, ofImage, ofSplit];
  const absent = said.find((own) => own !== undefined && !names.includes(own));
  if (absent !== undefined) throw noColumn(basename(file), absent, names);
  const values = read.map(({ column }) => column);
  const image = ofImage ?? values.find(namesImages)?.name ?? null;
  const free = values.filter((own) => own.name !== target && !furtherTargets.includes(own.name));
  const split = ofSplit ?? free.find(image === null ? namesSplits : namesSplitsOfImages)?.name ?? null;
  const possible = columns.filter(({ name }) => name !== image && name !== split);
  const wanted = target === undefined ? proposeTarget(possible) : { name: target, reason: 'as you say' };
  // Cells that do not fit are counted below.
  const asked = [...question, ...questions.filter(({ kind }) => kind !== 'misfits'), ...(raw.findings ?? [])];
  tell('comparing columns and rows');
  const targets = [...new Set([...(wanted === null ? [] : [wanted.name]), ...furtherTargets])];
  const splitting = values.find((own) => own.name === split && (own.name === ofSplit || namesSplits(own)));
  const splits = splitting === undefined ? null : readSplits(splitting);
  const table = { reading, columns, values, targets, split: splits?.profile.name ?? null };
  const { time, findings: ofTimes } = describeTimes(table, ofTime);
  const found = findFindings(table, { asked, ofTimes });
  const about = { reading, columns, target: wanted, time, split: splits?.profile ?? null };
  const profile = { kind: 'table' as const, bytes: content.length, sampleBytes: null, ...about, findings: found };
  const ofSplits = splits === null ? [] : splitFindings(splits, comparedColumns(profile, values));
  return { profile: { ...profile, findings: byLevel([...found, ...ofSplits]) }, values, image, split };
}

/** The columns that a model learns from and predicts, where nothing else is said. */
function comparedColumns(profile: TableProfile, values: readonly ProfiledColumn[]): ProfiledColumn[] {
  const roles = rolesOf(profile);
  return values.filter(({ name }) => !noFeatures.includes(roles.get(name) ?? 'number'));
}

/**
 * The encoding to assume for text that is not UTF-8 and does not say what it is; undefined: what its mark or the user
 * says.
 */
function encodingOf(
  bytes: Buffer,
  file: string,
  { encoding }: ReadTableOptions,
): { encoding: string | undefined; question: Finding[] } {
  if (encoding !== undefined && !isNamedUtf8(encoding) && markOf(bytes) === null && isPlainlyUtf8(bytes)) {
    const message = `${basename(file)} is UTF-8, and is read as ${encoding}, as you say: signs beyond ASCII become wrong.`;
    const option = "encoding: 'utf-8'";
    const choices = null;
    return { encoding, question: [{ level: 'warning', kind: 'encoding', column: null, message, choices, option }] };
  }
  // What is refused in any encoding is no question.
  const isDecided = isBinary(file) || isWorkbook(bytes) || isUtf8(bytes) || isLikeUtf32(bytes);
  if (encoding !== undefined || markOf(bytes) !== null || isDecided) return { encoding, question: [] };
  const assumed = bytes.subarray(0, 1000).includes(0) ? 'utf-16le' : usualOtherEncoding;
  const message =
    `${basename(file)} is not UTF-8, and no mark at its beginning says its encoding. It is read as ${assumed}: look ` +
    'whether names and signs are right.';
  const option = `encoding: '${assumed}'`;
  const choices = [assumed, ...otherEncodings];
  return {
    encoding: assumed,
    question: [{ level: 'question', kind: 'encoding', column: null, message, choices, option }],
  };
}

const isBinary = (file: string): boolean => ['Parquet', 'Arrow'].includes(dataFormatOf(file)?.name ?? '');

/** A column's values, and the cells that do not fit its type, which count as missing. */
function lenientColumn(raw: RawTable, index: number, how: ChosenColumn): { column: ProfiledColumn; misfits: Misfits } {
  const { name, cells } = raw.columns[index];
  const { type } = how;
  if (type === 'category' || type === 'text') {
    return { column: typedColumn(raw, index, type, how), misfits: { misfits: [], misfitCount: 0 } };
  }
  const values = Float64Array.from(cells.map((cell) => readCell(cell, type, how) ?? Number.NaN, Number.NaN));
  const rows: number[] = [];
  for (const [row, value] of values.entries()) if (Number.isNaN(value) && !cells.isMissingAt(row)) rows.push(row);
  const misfits = rows
    .slice(0, mostMisfits)
    .map((row) => ({ place: placeOfColumn(raw, index, row), text: String(cells.at(row)) }));
  const shown =
    type === 'date'
      ? { zones: countZones(cells) }
      : {
          hasLeadingZeros: cells.some((cell) => typeof cell === 'string' && /^0\d+$/.test(cell)),
          isClock: isClock(how.numberFormat),
        };
  return { column: { name, type, values, ...shown }, misfits: { misfits, misfitCount: rows.length } };
}

function countZones(cells: Cells): Map<string, number> {
  const counts = new Map<string, number>();
  for (const zone of cells.map((cell) => (typeof cell === 'string' ? zoneOf(cell) : null), null)) {
    if (zone !== null) counts.set(zone, (counts.get(zone) ?? 0) + 1);
  }
  return counts;
}
