/**
 * Characters with which text commands a terminal or reorders what is read: the control codes C0 (except tab and line
 * feed) and C1, DEL, the controls of writing direction (Unicode, UAX 9), and the line and paragraph separators.
 */
// oxlint-disable-next-line no-control-regex
const commanding = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Text that a terminal only shows. Each commanding character becomes its JSON escape, such as `\u001b`, so that JSON
 * keeps its meaning. Names, messages and logs may come from run folders and projects that somebody else made.
 */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(commanding, escape);
}

/** Like {@link printable}, as one line, so that a name cannot look like a line of Tutti's. */
export function printableLine(text: string): string {
  return printable(text).replaceAll(/[\n\t]/g, escape);
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The characters that begin a formula in a spreadsheet, and their full-width forms (OWASP, "CSV Injection"). */
const formula = /^[\s"]*[=+\-@\t\r＝＋－＠]/u;
/**
 * Signs alone, and a sign before plain words: labels such as +, -, +/- and -ve. Without brackets, bars and operators a
 * cell computes nothing.
 */
const label = /^[+-](?:[+\-/]*|[\p{L}\p{N}\s.,%_]*)$/u;
const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$|^[+-]?Infinity$/i;

/**
 * A cell of a CSV file that no spreadsheet takes for a formula: text that would begin one gets an apostrophe in front.
 * Numbers, and labels such as `+`, stay as they are.
 */
export function withoutFormula(cell: string): string {
  if (!formula.test(cell) || number.test(cell) || label.test(cell)) return cell;
  // In a quoted field the apostrophe belongs inside of the quotes.
  return cell.startsWith('"') ? `"'${cell.slice(1)}` : `'${cell}`;
}

/**
 * Texts of a CSV file of predictions that {@link withoutFormula} changes: none, names (of columns and files) and notes,
 * or all, also classes and labels, which then no longer join with the data that they come from.
 */
export const formulaGuards = ['none', 'names', 'all'] as const;

/** Words for a POSIX shell, each quoted where it needs it. */
export function quote(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}
