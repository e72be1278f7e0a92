import type { ColumnStep, Preprocessing, TableStep, TextColumnStep } from '../../../core/preprocessing/schema.ts';
import type { Fields } from '../fields.ts';
import type { ColumnType } from '../tables/columns.ts';
import type { Table } from '../tables/table.ts';
import { tableFeatures } from './table-features.ts';
import { textIds, textInputs } from './text-columns.ts';

/** What was fitted on a training split, ready to be applied to other data. */
export interface Fitted {
  /**
   * Features of all rows of a table with the training data's columns, shape `[rows, F]`; ids of tokens where a column
   * of texts is the only input.
   */
  features(table: Table): Float32Array;
  /** The further inputs that columns of texts become, by name: ids of tokens, `[rows, length]`. */
  extraInputs(table: Table): Fields;
  /** The target's value of an output, in its own unit. @param column which of several targets, counted from 0 */
  targetValue(output: number, column?: number): number;
}

/** Applies what a run keeps in `preprocessing.json`. @throws Error if it was not fitted on a table */
export function fitted({ steps, target }: Preprocessing): Fitted {
  const tableStep = steps.find((step) => step.kind === 'table');
  const texts = steps.flatMap((step) => (step.kind === 'texts' ? step.columns : []));
  if (tableStep === undefined && texts.length === 0)
    throw new Error('The preprocessing has no step for a table: it was fitted on other data.');
  const scales = steps.filter((own) => own.kind === 'standardize');
  const rowsOf = ({ length }: Table) => Int32Array.from({ length }, (_, row) => row);
  return {
    features(table) {
      const main = texts.find(({ input }) => input === null);
      if (main !== undefined) return Float32Array.from(textIds(main, table, rowsOf(table)));
      const { features } = tableFeatures(tableStep as TableStep, table, rowsOf(table));
      for (const { mean, std } of scales) {
        features.forEach((value, i) => {
          features[i] = (value - mean[i % mean.length]) / std[i % mean.length];
        });
      }
      return features;
    },
    extraInputs: (table) => textInputs(texts, table, rowsOf(table)),
    targetValue: (output, column = 0) =>
      target?.kind === 'values' ? target.mean[column] + target.std[column] * output : output,
  };
}

/** The columns for whose missing values there is a value. */
export function imputedColumns({ steps }: Preprocessing): Set<string> {
  const columns = steps.flatMap((step): readonly (ColumnStep | TextColumnStep)[] =>
    step.kind === 'texts' || step.kind === 'table' ? step.columns : [],
  );
  return new Set(columns.flatMap(({ name, impute }) => (impute === null || impute === false ? [] : [name])));
}

/** The types with which to read a table that the preprocessing is to be applied to. */
export function columnTypes({ steps }: Preprocessing): Record<string, ColumnType> {
  const columns = steps.flatMap((step): (readonly [string, ColumnType])[] => {
    if (step.kind === 'texts') return step.columns.map(({ name }) => [name, 'text']);
    return step.kind === 'table' ? step.columns.map(({ name, type }) => [name, type]) : [];
  });
  return Object.fromEntries(columns);
}
