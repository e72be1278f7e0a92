import { readSplits, sharedRowsText, whyNoSplits } from '../../../core/preprocessing/split-column.ts';
import type { SplitName } from '../../../core/preprocessing/split-column.ts';
import type { RowCounts, RowSplits } from '../assign-rows.ts';
import { noteData } from '../notes.ts';
import type { Column } from './columns.ts';
import type { Table } from './table.ts';

/** Options that split a table too. */
type OtherWays = Partial<RowCounts> & { time?: string };

/**
 * The rows of the splits that a column names. Notes rows that are in several of them.
 * @param rows those that are used @param compared the columns of the features and targets
 * @throws Error for a row without a split's name, for no row to train on or to test on, and for options that split too
 */
export function namedSplits(
  { name }: Table,
  rows: Int32Array,
  { column, compared }: { column: Column; compared: readonly Column[] },
  options: OtherWays,
): RowSplits {
  requireAlone(name, column.name, options);
  const values = at(column, rows);
  const { profile, splits } = readSplits(values);
  const why = whyNoSplits(profile);
  if (why !== null) throw new Error(`Splitting ${name}: ${why}`);
  const used = compared.map((own) => at(own, rows));
  const shared = sharedRowsText(used, splits, rows);
  if (shared !== null) noteData(`${name}: ${shared}`);
  const of = (split: SplitName): Int32Array => rows.filter((_, i) => splits[i] === split);
  const named = { train: of('train'), validation: of('validation'), test: of('test') };
  for (const split of ['validation', 'test'] as const) {
    if (!options[split] || named[split].length === 0) continue;
    noteData(`${name}: ${split}: ${options[split]} has no effect, because "${column.name}" names the ${split} split.`);
  }
  return named;
}

/** The values of some rows of a column. */
function at(column: Column, rows: Int32Array) {
  const { name, type, values } = column;
  if (values instanceof Float64Array) return { name, type, values: Float64Array.from(rows, (row) => values[row]) };
  return { name, type, values: Array.from(rows, (row) => values[row]) };
}

/** @throws Error for an option that decides the test split too */
function requireAlone(table: string, column: string, options: OtherWays): void {
  for (const option of ['time', 'fold'] as const) {
    if (options[option] === undefined) continue;
    throw new Error(
      `Splitting ${table}: "${column}" names the split of each row, so that ${option} cannot decide as well. Leave ` +
        `out ${option === 'fold' ? 'the folds' : option}, or split.`,
    );
  }
}
