import { formatCount } from '../text/numbers.ts';
import { dataFormatOf } from './data-formats.ts';
import type { ColumnProfile, Finding, ProfiledColumn } from './profile.ts';
import { caselessText, isClock, missingValuesWithout, type TableReading } from './reading.ts';

/** Fewer rows show nothing by chance alone. */
export const leastRows = 20;
/** Names of columns that say which one, and not how much. */
export const identifierNames = /(?:^|[\s_-])(?:id|uuid|guid|key|no|nr|number|index)$|[a-z](?:Id|ID|No|Key)$/;
const codeNames = /(?:^|[\s_-])(?:zip|zipcode|postal|postcode|plz|code|sic|naics|fips)(?:[\s_-]|$)/i;
const longestIdentifier = 40;
/** Texts that count as missing, and that may also be the name of something. */
const nameLike = /^(?:NA|None|null|NULL)$/;
/** Numbers that programs and sensors write where they have none. */
const sentinels = [-99, -999, -9999, -99999, -200, 99, 999, 9999, 99999];
/** A value that stands for a missing one repeats. */
const leastRepeated = 3;

/** Findings after which a project leaves a column out, unless the user gives it a role. */
export const uselessKinds: ReadonlySet<Finding['kind']> = new Set([
  'row-counter',
  'identifier',
  'constant',
  'copy',
  'free-text',
  'image-names',
]);

/** What a person should know of one column. */
export function findColumnFindings(column: ColumnProfile, own: ProfiledColumn, reading: TableReading): Finding[] {
  const useless = constant(column, reading) ?? rowCounter(column) ?? imageNames(column, own) ?? identifier(column, own);
  return [
    ...misfits(column, reading),
    ...formats(column),
    ...missingTexts(column, reading),
    ...sentinel(column, own, reading),
    ...spellings(column, own),
    ...(useless === null
      ? [...codes(column, own), ...groups(column, own), ...countedOn(column, own), ...freeText(column)]
      : [useless]),
  ];
}

/** A name as a key of an object in a program: `age`, `'body mass'`. */
export function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}

/** A text as a program spells it. */
export const quoted = (text: string): string =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)}'`;

/** The option with which these texts count as missing too. */
export function missingValuesWith(missingValues: readonly string[], texts: readonly string[]): string {
  return `missingValues: [${[...missingValues, ...texts].map(quoted).join(', ')}]`;
}

/** The option with which a column has a type, or with `ignore` is left out. */
export const typed = (name: string, type: string): string => `columns: { ${keyOf(name)}: '${type}' }`;

function misfits(
  { name, type, misfits: cells, misfitCount, present }: ColumnProfile,
  reading: TableReading,
): Finding[] {
  if (misfitCount === 0) return [];
  const [first] = cells;
  const kind = type === 'date' ? 'dates' : 'numbers';
  const texts = [...new Set(cells.map(({ text }) => text))];
  const option = `${missingValuesWith(reading.missingValues, texts)}, or ${typed(name, 'category')}`;
  const message =
    `${formatCount(misfitCount)} of ${formatCount(present + misfitCount)} cells of ${JSON.stringify(name)} are no ` +
    `${kind}, such as ${JSON.stringify(first.text)} (${first.place}). Correct them, or say what they are.`;
  const choices = present === 0 ? ['category', 'ignore'] : ['missing', 'category', 'ignore'];
  return [{ level: 'question', kind: 'misfits', column: name, message, choices, option }];
}

function formats({ name, numberFormat, dateFormat }: ColumnProfile): Finding[] {
  if (dateFormat !== null) {
    const message = `The dates of ${JSON.stringify(name)} are written as ${dateFormat}.`;
    const option = `dateFormat: { ${keyOf(name)}: '${dateFormat}' }`;
    return [{ level: 'note', kind: 'date-format', column: name, message, choices: null, option }];
  }
  if (numberFormat === null) return [];
  if (isClock(numberFormat)) {
    const message =
      `${JSON.stringify(name)} holds times of day, which count as hours since midnight: a model sees 23:59 and 0:00 far ` +
      'apart.';
    const option = `${typed(name, 'number')}, or ${typed(name, 'category')}`;
    return [{ level: 'note', kind: 'number-format', column: name, message, choices: null, option }];
  }
  const { decimal, grouping, unit } = numberFormat;
  const parts = [
    `a decimal ${decimal === ',' ? 'comma' : 'point'}`,
    ...(grouping === '' ? [] : [`${JSON.stringify(grouping)} between thousands`]),
    ...(unit === '' ? [] : [`the unit ${unit}, which is left out`]),
  ];
  const message = `The numbers of ${JSON.stringify(name)} are written with ${parts.join(', ')}.`;
  const option = `decimal: { ${keyOf(name)}: '${decimal}' }`;
  return [{ level: 'note', kind: 'number-format', column: name, message, choices: null, option }];
}

function missingTexts({ name, type, missing }: ColumnProfile, reading: TableReading): Finding[] {
  if (type !== 'category' && type !== 'text') return [];
  const texts = Object.entries(missing).filter(([text]) => nameLike.test(text));
  if (texts.length === 0) return [];
  const shown = texts.map(([text, count]) => `${JSON.stringify(text)} (${formatCount(count)} cells)`);
  const message =
    `${shown.join(' and ')} of ${JSON.stringify(name)} count as missing, but the column holds ` +
    'names. Set missingValues if one of these texts is a value: NA may be a country, and None a class.';
  const option = missingValuesWithout(
    reading.missingValues,
    texts.map(([text]) => text),
  );
  const choices = texts.map(([text]) => text);
  return [{ level: 'warning', kind: 'missing-texts', column: name, message, choices, option }];
}

/** Categories that differ only in the case of letters, or in how accents are composed. */
function spellings({ name, type }: ColumnProfile, { values }: ProfiledColumn): Finding[] {
  if (type !== 'category' || values instanceof Float64Array) return [];
  const distinct = new Set(values.filter((own) => own !== null));
  const alike = [...Map.groupBy(distinct, caselessText).values()].filter(({ length }) => length > 1);
  if (alike.length === 0) return [];
  const shown = alike.slice(0, 3).map((own) => own.map((text) => JSON.stringify(text)).join(' and '));
  const isCase = alike[0].some((own) => own.normalize('NFC') !== alike[0][0].normalize('NFC'));
  const message =
    `${JSON.stringify(name)} has categories that differ only in ${isCase ? 'capital letters' : 'how an accent is composed'}: ` +
    `${shown.join(', ')}${alike.length > 3 ? ', ...' : ''}. They are different categories unless you say otherwise.`;
  const option = `ignoreCase: [${quoted(name)}]`;
  return [{ level: 'warning', kind: 'spellings', column: name, message, choices: ['one'], option }];
}

/** A number that stands for a missing one: outside of all others, and repeated. */
function sentinel({ name, type }: ColumnProfile, { values }: ProfiledColumn, reading: TableReading): Finding[] {
  if (type !== 'number' || !(values instanceof Float64Array)) return [];
  for (const value of sentinels) {
    const count = values.filter((own) => own === value).length;
    if (count < leastRepeated) continue;
    const others = values.filter((own) => own !== value && !Number.isNaN(own)).sort();
    if (others.length === 0) continue;
    const [smallest, largest] = [others[0], others[others.length - 1]];
    const half = (largest - smallest) / 2;
    const isBelow = value < 0 && (smallest >= 0 || value < smallest - half);
    if (!isBelow && value <= largest + half) continue;
    const message =
      `${formatCount(count)} cells of ${JSON.stringify(name)} are ${value}, and all others lie from ${smallest} to ` +
      `${largest}. It probably stands for a missing value.`;
    const option = missingValuesWith(reading.missingValues, [String(value)]);
    return [{ level: 'warning', kind: 'sentinel', column: name, message, choices: [String(value)], option }];
  }
  return [];
}

function constant(
  { name, present, distinctValues, examples, misfitCount }: ColumnProfile,
  { rows }: TableReading,
): Finding | null {
  if (present === 0 && misfitCount === 0) {
    const message = `${JSON.stringify(name)} has no value in any row.`;
    return { level: 'note', kind: 'constant', column: name, message, choices: null, option: typed(name, 'ignore') };
  }
  if (distinctValues !== 1 || present !== rows) return null;
  const message = `${JSON.stringify(name)} is ${JSON.stringify(examples[0])} in every row.`;
  return { level: 'note', kind: 'constant', column: name, message, choices: null, option: typed(name, 'ignore') };
}

function rowCounter({ name, countsRows }: ColumnProfile): Finding | null {
  if (!countsRows) return null;
  const message =
    `${JSON.stringify(name)} counts the rows. A model would learn the order of this file from it, which new samples ` +
    'do not have.';
  return { level: 'warning', kind: 'row-counter', column: name, message, choices: null, option: typed(name, 'ignore') };
}

/** Numbers that count on or down with the rows, from any number: those of the rows, or the steps of a measurement. */
function countedOn({ name }: ColumnProfile, { values }: ProfiledColumn): Finding[] {
  if (!(values instanceof Float64Array) || values.length < leastRows) return [];
  const step = values[1] - values[0];
  if (Math.abs(step) !== 1 || values.some((value, row) => value !== values[0] + row * step)) return [];
  const message =
    `${JSON.stringify(name)} is one ${step > 0 ? 'more' : 'less'} in each row. If it only numbers the rows, leave it ` +
    'out: a model would learn the order of this file from it, which new samples do not have.';
  return [{ level: 'warning', kind: 'sorted', column: name, message, choices: null, option: typed(name, 'ignore') }];
}

/** A column of files of images: a model is to see these, not their names. */
function imageNames({ name, examples }: ColumnProfile, { values }: ProfiledColumn): Finding | null {
  if (!namesImages({ values })) return null;
  const message =
    `${JSON.stringify(name)} names images, such as ${JSON.stringify(examples[0])}, none of which is beside the table. ` +
    'A project learns from them where you give their folder: --images, or the field on the page.';
  const option = `imageTable(file, { path: ${quoted(name)}, folder: 'images', size: [64, 64], seed })`;
  return { level: 'warning', kind: 'image-names', column: name, message, choices: null, option };
}

/** Whether all values of a column end as names of images do. */
export function namesImages({ values }: Pick<ProfiledColumn, 'values'>): boolean {
  if (values instanceof Float64Array || values.every((text) => text === null)) return false;
  return values.every((text) => text === null || dataFormatOf(text)?.holds === 'image');
}

/** A column with another value in each row, which is a name and no measurement. */
function identifier(
  { name, type, present, distinctValues }: ColumnProfile,
  { values }: ProfiledColumn,
): Finding | null {
  const isNumber = values instanceof Float64Array;
  if (isNumber && identifierNames.test(name) && values.some((value) => Math.abs(value) > Number.MAX_SAFE_INTEGER)) {
    const message = `${JSON.stringify(name)} has numbers of more digits than are kept: ids that differ become equal.`;
    const option = typed(name, 'ignore');
    return { level: 'warning', kind: 'identifier', column: name, message, choices: null, option };
  }
  if (present < leastRows || distinctValues !== present || type === 'date' || type === 'boolean') return null;
  const areNames = isNumber
    ? identifierNames.test(name) && values.every((value) => Number.isNaN(value) || Number.isInteger(value))
    : values.every((text) => text === null || (text.length <= longestIdentifier && !/\s\S+\s/.test(text)));
  if (!areNames) return null;
  const message = `${JSON.stringify(name)} has a different value in each row. It only names the rows.`;
  return { level: 'warning', kind: 'identifier', column: name, message, choices: null, option: typed(name, 'ignore') };
}

/** Numbers that name something: a sum or a mean of them means nothing. */
function codes({ name, type }: ColumnProfile, { values, hasLeadingZeros = false }: ProfiledColumn): Finding[] {
  if (type !== 'number' || !(values instanceof Float64Array)) return [];
  const isNamed = codeNames.test(name) && values.every((value) => Number.isNaN(value) || Number.isInteger(value));
  if (!hasLeadingZeros && !isNamed) return [];
  const reason = hasLeadingZeros ? 'has numbers that begin with 0' : 'has whole numbers and the name of a code';
  const message = `${JSON.stringify(name)} ${reason}. If they are codes, such as postal codes, make them categories.`;
  return [{ level: 'warning', kind: 'codes', column: name, message, choices: null, option: typed(name, 'category') }];
}

/** A column that names what several rows belong to. */
function groups({ name, type, present, distinctValues }: ColumnProfile, { values }: ProfiledColumn): Finding[] {
  const isRepeated = distinctValues >= 5 && present >= 2 * distinctValues;
  const isWhole =
    !(values instanceof Float64Array) || values.every((value) => Number.isNaN(value) || Number.isInteger(value));
  if (type === 'date' || !isRepeated || !isWhole || !identifierNames.test(name)) return [];
  const message =
    `${JSON.stringify(name)} has ${formatCount(distinctValues)} values in ${formatCount(present)} rows. If rows of ` +
    'one belong together, keep them in one split.';
  return [{ level: 'warning', kind: 'groups', column: name, message, choices: null, option: `group: ${quoted(name)}` }];
}

function freeText({ name, type, present, distinctValues }: ColumnProfile): Finding[] {
  const areMostlyDistinct = type === 'category' && present >= leastRows && 2 * distinctValues > present;
  if (type !== 'text' && !areMostlyDistinct) return [];
  const message =
    `${JSON.stringify(name)} is text with ${formatCount(distinctValues)} distinct values in ${formatCount(present)} ` +
    'rows, from which a model learns nothing unless you say how it becomes words.';
  const option = `${typed(name, 'ignore')}, or text: { ${keyOf(name)}: { length: 64 } }`;
  return [{ level: 'warning', kind: 'free-text', column: name, message, choices: null, option }];
}
