import { isDecimal, type RawColumn } from '../cells.ts';

/**
 * Whether the first line of a file names its columns.
 *
 * Yes, if none of its fields is a number. No, if all are, or if a text in it occurs again in its column, as a class does. A line of both is
 * names if its numbers can be names (whole, ascending: 0, 1, 2 or 2019, 2020) and one of its texts differs in kind from all cells below it: these are
 * numbers, or repeat each other.
 * @param columns the cells below the first line
 * @throws Error where both readings are equally good
 */
export function isHeader(first: readonly string[], columns: readonly RawColumn[], source: string): boolean {
  const texts = first.flatMap((field, i) => (isDecimal(field) ? [] : [{ field, cells: columns[i].cells }]));
  if (texts.length === first.length) return true;
  const [{ cells }] = columns;
  if (cells.length === 0) return false;
  if (texts.length === 0) {
    // pandas names the columns of an array like this.
    if (first.length > 2 && first.every((field, i) => field === String(i))) throw undecided(source, first);
    return false;
  }
  const named = texts.filter(({ field }) => field !== '');
  if (!areNames(first.filter(isDecimal)) || named.some(({ field, cells: own }) => own.includes(field))) return false;
  if (named.some(({ cells: own }) => isOfAnotherKind(own.filter((cell) => cell !== null)))) return true;
  throw undecided(source, first);
}

function areNames(numbers: readonly string[]): boolean {
  return numbers.every(
    (text, i) => /^(?:0|[1-9]\d*)$/.test(text) && (i === 0 || Number(text) > Number(numbers[i - 1])),
  );
}

/** Whether cells below a text are numbers, or repeat each other as classes do. */
function isOfAnotherKind(cells: readonly unknown[]): boolean {
  if (cells.length === 0) return false;
  if (cells.every((cell) => isDecimal(String(cell)))) return true;
  return cells.length >= 4 && 2 * new Set(cells).size <= cells.length;
}

function undecided(source: string, first: readonly string[]): Error {
  const shown = first.slice(0, 6).join(', ') + (first.length > 6 ? ', ...' : '');
  return new Error(
    `${source}: the first line (${shown}) may name the columns or be a row of data. Say which: readTable(file, { header: true }) or { header: false }.`,
  );
}
