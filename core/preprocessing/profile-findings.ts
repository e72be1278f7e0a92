import { correlated, determined, fewRows, leastShared } from './answer-findings.ts';
import { findColumnFindings, leastRows, typed } from './column-findings.ts';
import { countRuns } from './column-profile.ts';
import { codesOf, hashOf, rowHashes } from './equal-rows.ts';
import {
  byLevel,
  type ColumnProfile,
  type Finding,
  type ProfiledColumn,
  type ProfiledTable,
  type TableProfile,
} from './profile.ts';
import { linesOfComment, type TableReading } from './reading.ts';
import { hasValue } from './time-columns.ts';

const targetNames =
  /^(?:target|label|labels|class|y|outcome|response|diagnosis|species|survived|quality|price|result)$/i;
/** A column of whole numbers with at most so many values is taken for classes. */
const mostNumberedClasses = 10;
/** More characters of a comment are not shown. */
const longestComment = 80;

/** The column that a model most likely is to predict: by its name, else the last one. */
export function proposeTarget(columns: readonly ColumnProfile[]): TableProfile['target'] {
  const possible = columns.filter(({ type, distinctValues, countsRows }) => {
    return type !== 'text' && type !== 'date' && distinctValues > 1 && !countsRows;
  });
  const named = possible.findLast(({ name }) => targetNames.test(name));
  if (named !== undefined) return { name: named.name, reason: 'it has the name of a target' };
  const last = possible.at(-1);
  return last === undefined ? null : { name: last.name, reason: 'it is the last column that can be one' };
}

/** What a person should know of a table before training: questions first, then warnings, then notes. */
export function findFindings(
  table: ProfiledTable,
  { asked, ofTimes }: Record<'asked' | 'ofTimes', readonly Finding[]>,
): Finding[] {
  const isAsked = ({ kind, column }: Finding): boolean =>
    asked.some((own) => own.kind === kind && own.column === column);
  const ofColumns = table.columns
    .flatMap((column, i) => findColumnFindings(column, table.values[i], table.reading))
    .filter((finding) => !isAsked(finding));
  // Steps that are counted are a time.
  const areTimes = (name: string | null): boolean =>
    ofTimes.some(({ kind, column }) => kind === 'time' && column === name);
  const grouped = new Set(ofColumns.flatMap(({ kind, column }) => (kind === 'groups' ? [column] : [])));
  return byLevel([
    ...asked,
    ...ofColumns.filter(({ kind, column }) => kind !== 'sorted' || !areTimes(column)),
    ...ofTimes.filter(({ kind, column }) => kind !== 'groups' || !grouped.has(column)),
    ...comments(table.reading),
    ...leftOut(table.reading),
    ...missingRows(table),
    ...copies(table),
    ...duplicates(table),
    ...table.targets.flatMap((name) => aboutTarget(table, name)),
  ]);
}

function comments({ file, comments: lines }: TableReading): Finding[] {
  const [first] = lines.filter((line) => line !== '');
  if (first === undefined) return [];
  const shown = JSON.stringify(first.length > longestComment ? `${first.slice(0, longestComment)}...` : first);
  const message = `Left out at the beginning of ${file}: ${linesOfComment(lines.length)} (${shown}${lines.length > 1 ? ', ...' : ''}).`;
  return [note('comments', null, message, `commentLines: ${lines.length}`)];
}

function leftOut({ leftOut: columns, emptyRows }: TableReading): Finding[] {
  const left = columns.filter(({ reason }) => reason !== 'ignored');
  const parts = [
    ...(left.length === 0 ? [] : [`${left.length === 1 ? '1 column' : `${left.length} columns`} without a name`]),
    ...(emptyRows === 0 ? [] : [`${emptyRows === 1 ? '1 row' : `${emptyRows} rows`} without a value`]),
  ];
  if (parts.length === 0) return [];
  return [note('left-out', null, `Left out: ${parts.join(' and ')}.`, null)];
}

function missingRows({ reading, columns, values }: ProfiledTable): Finding[] {
  const incomplete = columns.filter(({ missing }) => Object.keys(missing).length > 0);
  if (incomplete.length === 0) return [];
  let rows = 0;
  for (let row = 0; row < reading.rows; row++) if (values.some((column) => !hasValue(column, row))) rows++;
  const share = Math.round((100 * rows) / reading.rows);
  const names = incomplete.slice(0, 5).map(({ name }) => JSON.stringify(name));
  const shown = names.join(', ') + (incomplete.length > 5 ? ', ...' : '');
  const message = `${rows} of ${reading.rows} rows (${share} %) lack a value, in ${shown}.`;
  return [note('missing-values', null, message, "missing: 'impute'")];
}

/** Columns that have the same values, or of which each value stands for one value of the other. */
function copies({ reading, columns, values, targets }: ProfiledTable): Finding[] {
  const seen = new Map<number, number[]>();
  return columns.flatMap((column, i): Finding[] => {
    // A column that gives a target away has a kind of finding to itself.
    if (column.distinctValues < 2 || targets.includes(column.name)) return [];
    // Where most values occur once, a pattern of values says nothing: the values themselves must agree.
    const isOneToOne = column.distinctValues * leastShared > column.present;
    const pattern = isOneToOne ? null : firstRows(values[i], reading.rows);
    const codes = pattern ?? codesOf(values[i]);
    const hash = hashOf(codes.length, (at) => codes[at]);
    const alike = seen.get(hash) ?? [];
    seen.set(hash, [...alike, i]);
    const first = alike.find((other) => {
      if (pattern === null) return haveSameValues(values[i], values[other]);
      return firstRows(values[other], reading.rows).every((row, at) => row === pattern[at]);
    });
    if (first === undefined) return [];
    const [name, other] = [column.name, columns[first].name].map((own) => JSON.stringify(own));
    const message = `${name} says the same as ${other} in every row. One of them is enough.`;
    return [{ ...note('copy', column.name, message, ignoring(column.name)), level: 'warning' }];
  });
}

/** The first row with the same value as each row; equal for columns with the same pattern of values. */
function firstRows({ values }: ProfiledColumn, rows: number): Int32Array {
  const known = new Map<unknown, number>();
  return Int32Array.from({ length: rows }, (_, row) => {
    const first = known.get(values[row]) ?? row;
    known.set(values[row], first);
    return first;
  });
}

function haveSameValues({ values: a }: ProfiledColumn, { values: b }: ProfiledColumn): boolean {
  for (let row = 0; row < a.length; row++) if (!Object.is(a[row], b[row])) return false;
  return true;
}

function duplicates({ reading, columns, values, split }: ProfiledTable): Finding[] {
  const compared = values.filter((_, i) => !columns[i].countsRows);
  if (compared.length === 0) return [];
  const count = reading.rows - countRuns(rowHashes(compared, reading.rows).sort());
  if (count === 0) return [];
  const message =
    `${count} of ${reading.rows} rows ${count === 1 ? 'repeats' : 'repeat'} an earlier row` +
    (split === null
      ? '. A copy in the training and the test split makes the test look better than it is.'
      : ' of its split, and counts twice.');
  return [{ ...note('duplicates', null, message, null), level: 'warning' }];
}

function aboutTarget(table: ProfiledTable, name: string): Finding[] {
  const { targets, columns, values } = table;
  const at = columns.findIndex((column) => column.name === name);
  const classes = classesOf(table, at);
  // No model learns from another target.
  const others = columns.flatMap((column, i) => (targets.includes(column.name) ? [] : [{ column, own: values[i] }]));
  if (classes === null) return others.flatMap(({ column, own }) => correlated(table, at, column, own));
  return [
    ...rareClasses(table.columns[at], classes),
    ...others.flatMap(({ column, own }) => determined(table.columns[at], classes, column, own)),
    ...sorted(table.columns[at], classes),
  ];
}

/** Whether a target is one of classes: words, or few whole numbers. */
export function holdsClasses({ type, distinctValues, bars }: ColumnProfile): boolean {
  if (type !== 'number' && type !== 'date') return true;
  return type === 'number' && distinctValues <= mostNumberedClasses && bars.every(({ label }) => /^-?\d+$/.test(label));
}

/** The class of each row, null where it has none; null for a target of values. */
function classesOf({ columns, values }: ProfiledTable, at: number): (string | null)[] | null {
  if (!holdsClasses(columns[at])) return null;
  const { values: own } = values[at];
  if (!(own instanceof Float64Array)) return [...own];
  return Array.from(own, (value) => (Number.isNaN(value) ? null : String(value)));
}

function rareClasses({ name }: ColumnProfile, classes: readonly (string | null)[]): Finding[] {
  const counts = new Map<string, number>();
  for (const own of classes) if (own !== null) counts.set(own, (counts.get(own) ?? 0) + 1);
  const rare = [...counts].filter(([, count]) => count < fewRows);
  if (rare.length === 0 || classes.length < leastRows) return [];
  const shown = rare.slice(0, 5).map(([own, count]) => `${JSON.stringify(own)} (${count})`);
  const message =
    `${rare.length} of the ${counts.size} classes of ${JSON.stringify(name)} have fewer than ${fewRows} rows: ` +
    `${shown.join(', ')}${rare.length > 5 ? ', ...' : ''}. A split may lack them.`;
  return [{ ...note('rare-classes', name, message, 'stratify: true'), level: 'warning' }];
}

/** Rows in the order of their classes: what counts rows gives the class away then. */
function sorted({ name }: ColumnProfile, classes: readonly (string | null)[]): Finding[] {
  const changes = classes.filter((own, row) => row > 0 && own !== classes[row - 1]).length;
  const kinds = new Set(classes).size;
  if (kinds < 2 || classes.length < Math.max(leastRows, kinds * 3) || changes !== kinds - 1) return [];
  const message =
    `The rows are sorted by ${JSON.stringify(name)}. Splits that are drawn at random mix them; a split of the first ` +
    'and last rows, or a column that counts rows, would not.';
  return [note('sorted', name, message, null)];
}

const ignoring = (name: string): string => typed(name, 'ignore');

function note(kind: Finding['kind'], column: string | null, message: string, option: string | null): Finding {
  return { level: 'note', kind, column, message, choices: null, option };
}
