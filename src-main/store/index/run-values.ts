import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { FieldValue } from '../../../core/protocol/pages/runs/run-fields.ts';
import { realNumber } from '../../../core/protocol/wire/numbers.ts';

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

/** A value as SQLite returned it. */
export function fieldValue(stored: unknown): FieldValue | null {
  if (typeof stored === 'number') return stored;
  return valueSchema.parse(stored ?? null);
}

/** The values of some fields of runs, by their folders. */
export function readValues(
  database: DatabaseSync,
  fields: readonly string[],
  folders: readonly string[],
): Map<string, (FieldValue | null)[]> {
  if (fields.length === 0 || folders.length === 0) return new Map();
  const columns = fields.map((field, index) => `, ${fieldExpression(field)} AS v${index}`).join('');
  const rows = database
    .prepare(`SELECT folder${columns} FROM runs WHERE folder IN (SELECT value FROM json_each(?))`)
    .all(JSON.stringify(folders));
  return new Map(rows.map((row) => [String(row.folder), fields.map((_, index) => fieldValue(row[`v${index}`]))]));
}
