/** The characters that begin a formula in a spreadsheet, and their full-width forms (OWASP, "CSV Injection"). */
const formula = /^[\s"]*[=+\-@\t\r＝＋－＠]/u;
/** Signs alone, and a sign before plain words: labels such as +, -, +/- and -ve. Without brackets, bars and operators a cell computes nothing. */
const label = /^[+-](?:[+\-/]*|[\p{L}\p{N}\s.,%_]*)$/u;
const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$|^[+-]?Infinity$/i;

/**
 * A cell of a CSV file that no spreadsheet takes for a formula: text that would begin one gets an apostrophe in front. Numbers, and labels
 * such as `+`, stay as they are, so that they join with other files.
 */
export function withoutFormula(cell: string): string {
  if (!formula.test(cell) || number.test(cell) || label.test(cell)) return cell;
  // In a quoted field the apostrophe belongs inside of the quotes.
  return cell.startsWith('"') ? `"'${cell.slice(1)}` : `'${cell}`;
}

/** The name that a cell stands for: itself, or the name of which {@link withoutFormula} made it. @param isName whether a text is one of the known names */
export function nameOfCell(cell: string, isName: (text: string) => boolean): string {
  if (isName(cell)) return cell;
  const name = cell.replace(/^("?)'/, '$1');
  return isName(name) && withoutFormula(name) === cell ? name : cell;
}
