import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { FieldValue } from '../../../core/protocol/pages/runs/run-fields.ts';
import { realNumber } from '../../../core/protocol/wire/numbers.ts';
import type { Parameters } from './indexed-run.ts';

const valueSchema = z.union([realNumber, z.string()]).nullable();

/** A field of runs as an expression of SQL. Names cannot end its quotes: the schema of fields allows neither `"` nor `\`. */
export function fieldExpression(field: string): string {
  if (field === 'disk') return 'disk_bytes';
  return `(fields ->> '$."${field.replaceAll("'", "''")}"')`;
}

/** The same for sorting: NaN and infinities, which are stored as texts, come last in both directions, as missing values do. */
export function sortExpression(field: string): string {
  const value = fieldExpression(field);
  return `iif(${value} IN ('NaN', 'Infinity', '-Infinity'), NULL, ${value})`;
}

/** The values of some fields of runs, by their folders. */
export function readValues(
  database: DatabaseSync,
  fields: readonly string[],
  folders: readonly string[],
): Map<string, (FieldValue | null)[]> {
  if (fields.length === 0 || folders.length === 0) return new Map();
  const where = 'WHERE folder IN (SELECT value FROM json_each(:folders))';
  return selectValues(database, fields, where, { folders: JSON.stringify(folders) });
}

/** The values of some fields of the runs of `FROM runs` with these clauses, by their folders. */
export function selectValues(
  database: DatabaseSync,
  fields: readonly string[],
  clauses: string,
  parameters: Parameters,
): Map<string, (FieldValue | null)[]> {
  const columns = fields.map((field, index) => `, ${fieldExpression(field)} AS v${index}`).join('');
  const statement = database.prepare(`SELECT folder${columns} FROM runs ${clauses}`);
  statement.setAllowUnknownNamedParameters(true);
  const rows = statement.all(parameters);
  return new Map(
    rows.map((row) => [String(row.folder), fields.map((_, index) => valueSchema.parse(row[`v${index}`] ?? null))]),
  );
}
