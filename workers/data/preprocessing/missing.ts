import type { Column } from '../tables/columns.ts';
import type { Table } from '../tables/table.ts';

/** A missing value that nothing replaces. */
export function missingAt(table: Table, { name }: Column, row: number): Error {
  return new Error(
    `Column "${name}" of ${table.name} has no value in row ${row + 1}. Choose missing: 'drop' to leave out such rows, or ` +
      `'impute' to fill them in; for one column: missing: { ${JSON.stringify(name)}: 'impute' }.`,
  );
}
