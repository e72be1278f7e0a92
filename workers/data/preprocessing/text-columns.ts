import type { TextColumnStep } from '../../../core/preprocessing/schema.ts';
import { paddingId, Tokenizer } from '../../../core/tokens/tokenizer.ts';
import type { Fields } from '../fields.ts';
import type { TextColumn } from '../tables/columns.ts';
import { columnOf, type Table } from '../tables/table.ts';
import { fitTokenizer, type TokenizerOptions } from '../text/fit-tokenizer.ts';
import { missingAt } from './missing.ts';

/** How a column of texts becomes an input of token ids. */
export interface TextColumnOptions extends TokenizerOptions {
  /** The number of tokens of every text: longer ones lose their end, shorter ones are padded with id 0. */
  length: number;
  /** Where short texts are padded; at the end by default. */
  padding?: 'start' | 'end';
}

/** The texts of a table's rows that a tokenizer is fitted on. */
export interface TextFit {
  /** Rows of the training split. */
  rows: Int32Array;
  /** Whether a missing text counts as an empty one. */
  imputes: (column: string) => boolean;
  /** The name of the model's input; null: the features. */
  input: string | null;
}

/** Learns the vocabulary of a column on the training split. @throws Error if the column holds no texts */
export function fitTexts(
  table: Table,
  name: string,
  { length, padding = 'end', ...options }: TextColumnOptions,
  { rows, imputes, input }: TextFit,
): TextColumnStep {
  if (!Number.isInteger(length) || length < 1) {
    throw new RangeError(
      `Column "${name}" of ${table.name}: a length of ${length} tokens is not possible. Give a whole number.`,
    );
  }
  const { values } = textsOf(table, name);
  const tokenizer = fitTokenizer(
    Array.from(rows, (row) => values[row] ?? ''),
    options,
  );
  return { name, tokenizer: tokenizer.data, length, padding, impute: imputes(name), input };
}

/** Token ids of a column's texts, `[rows, length]`. @throws Error for a missing text that may not be imputed */
export function textIds(step: TextColumnStep, table: Table, rows: Int32Array): Int32Array {
  const { length, padding } = step;
  const column = textsOf(table, step.name);
  const tokenizer = new Tokenizer(step.tokenizer);
  const ids = new Int32Array(rows.length * length).fill(paddingId);
  rows.forEach((row, i) => {
    const text = column.values[row];
    if (text === null && !step.impute) throw missingAt(table, column, row);
    const own = tokenizer.encode(text ?? '').slice(0, length);
    ids.set(own, i * length + (padding === 'start' ? length - own.length : 0));
  });
  return ids;
}

/** The further inputs that columns of texts become, by name. */
export function textInputs(steps: readonly TextColumnStep[], table: Table, rows: Int32Array): Fields {
  const named = steps.flatMap((step) => (step.input === null ? [] : [{ step, input: step.input }]));
  return Object.fromEntries(
    named.map(({ step, input }) => [input, { shape: [step.length], values: textIds(step, table, rows) }]),
  );
}

function textsOf(table: Table, name: string): TextColumn {
  const column = columnOf(table, name);
  if (column.type === 'text' || column.type === 'category') return column;
  throw new Error(
    `Column "${name}" of ${table.name} is to be text, but is of type ${column.type}. Read it as text: ` +
      `readTable(file, { columns: { ${JSON.stringify(name)}: 'text' } }).`,
  );
}
