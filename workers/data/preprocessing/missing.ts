import { missingValuesWithout } from '../../../core/preprocessing/reading.ts';
import { type Column, isMissingAt } from '../tables/columns.ts';
import type { Table } from '../tables/table.ts';

/** A missing value that nothing replaces. */
export function missingAt(table: Table, column: Column, row: number): Error {
  const { name } = column;
  return new Error(
    `Column "${name}" of ${table.name} has no value in ${missingRows(column, row)}. Choose missing: 'drop' to leave out such ` +
      `rows, or 'impute' to fill them in; for one column: missing: { ${JSON.stringify(name)}: 'impute' ` +
      `}.${missingTexts(table, column)}`,
  );
}

/** `row 8`, or of several `3 of 100 rows, first in row 8`. @param row the first one that is of concern */
export function missingRows(column: Column, row: number): string {
  const { length } = column.values;
  let count = 0;
  for (let own = 0; own < length; own++) if (isMissingAt(column, own)) count++;
  return count < 2 ? `row ${row + 1}` : `${count} of ${length} rows, first in row ${row + 1}`;
}

/** Which texts of a column count as missing, and what to do where they are values; empty where only empty cells do. */
export function missingTexts({ reading }: Table, { name }: Column): string {
  const known = reading?.columns.find((column) => column.name === name);
  const counted = Object.entries(known?.missing ?? {}).filter(([text]) => text !== '');
  if (reading === undefined || counted.length === 0) return '';
  const shown = counted.map(([text, count]) => `${JSON.stringify(text)} (${count} cells)`).join(', ');
  const option = missingValuesWithout(
    reading.missingValues,
    counted.map(([text]) => text),
  );
  return ` The text ${shown} counts as missing: where it is a value, read the table with ${option}.`;
}
