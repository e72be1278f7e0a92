import type { ColumnWarning } from '../../core/ensemble/column-warnings.ts';
import type { ColumnStep, Preprocessing } from '../../core/preprocessing/schema.ts';
import { valueAt } from '../data/preprocessing/table-cells.ts';
import { misfitsOf } from '../data/preprocessing/table-features.ts';
import type { Column } from '../data/tables/columns.ts';
import type { Table } from '../data/tables/table.ts';

/** Values of unseen categories that a warning names. */
const mostNamed = 3;

/** Rows of a table, from `first` to before `end`. */
interface Rows {
  first: number;
  end: number;
}

/** What of one column does not fit. */
interface ColumnLosses {
  step: ColumnStep;
  missing: number;
  /** Categories that the training split lacks, with their rows. */
  unseen: Map<string, number>;
  outside: number;
  /** The farthest values outside. */
  smallest: number;
  largest: number;
}

/**
 * Counts what does not fit the training split in tables that are predicted: rows without any value, missing values,
 * categories that the split lacks, and values outside its range.
 */
export class TableLosses {
  readonly #columns: ColumnLosses[];
  #rows = 0;
  #emptyRows = 0;

  constructor(preprocessing: Preprocessing | null) {
    const step = preprocessing?.steps.find(({ kind }) => kind === 'table');
    const none = { missing: 0, outside: 0, smallest: Infinity, largest: -Infinity };
    this.#columns =
      step?.kind === 'table' ? step.columns.map((own) => ({ step: own, unseen: new Map(), ...none })) : [];
  }

  /**
   * @param rows by default all
   * @returns what does not fit of each row, such as `missing age; outside fare`, empty where all does; null if the run
   * kept no columns
   */
  add(table: Table, rows: Rows = { first: 0, end: table.length }): string[] | null {
    const misfits = Array.from({ length: rows.end - rows.first }, () => '');
    this.#rows += misfits.length;
    this.#emptyRows += table.emptyRows ?? 0;
    for (const losses of this.#columns) {
      const column = table.columns.find(({ name }) => name === losses.step.name);
      if (column !== undefined) addColumn(losses, column, rows, misfits);
    }
    return this.#columns.length === 0 ? null : misfits;
  }

  /** One for each column with losses, in the order of the features. */
  warnings(): ColumnWarning[] {
    return this.#columns.flatMap((losses) => {
      const { step, missing, outside } = losses;
      const values = [...losses.unseen].sort(([, a], [, b]) => b - a);
      const unseen = values.reduce((sum, [, count]) => sum + count, 0);
      if (missing + unseen + outside === 0) return [];
      const unseenValues = values.slice(0, mostNamed).map(([value, count]) => ({ value, count }));
      const farthest = outside === 0 ? [] : [losses.smallest, losses.largest];
      const outsideValues = [...new Set(farthest.map((value) => textOf(step, value)))];
      return [{ column: step.name, rows: this.#rows, missing, unseen, unseenValues, outside, outsideValues }];
    });
  }

  /** The same for people, with the rows that have no prediction. */
  sentences(): string[] {
    const empty = `${this.#emptyRows} rows without any value are left out: they have no line among the predictions.`;
    const all = this.warnings();
    const missing = all.filter((own) => own.missing > 0).map((own) => `"${own.column}" ${own.missing}`);
    const imputed =
      `Of ${this.#rows} rows, these have no value in a column: ${missing.join(', ')}. They count as the value that ` +
      'training put for missing ones (preprocessing.json, impute).';
    return [
      ...(this.#emptyRows === 0 ? [] : [empty]),
      ...(missing.length === 0 ? [] : [imputed]),
      ...all.filter(({ unseen }) => unseen > 0).map(unseenSentence),
      ...all.filter(({ outside }) => outside > 0).map((warning) => this.#outsideSentence(warning)),
    ];
  }

  #outsideSentence({ column, rows, outside, outsideValues }: ColumnWarning): string {
    const step = this.#columns.find((own) => own.step.name === column)?.step;
    const range = step === undefined || step.type === 'category' ? [] : [step.smallest, step.largest];
    const [smallest, largest] = step === undefined ? [] : range.map((value) => textOf(step, value));
    return (
      `Column "${column}": ${outside} of ${rows} rows have values outside the range of the training data, ` +
      `${smallest} to ${largest} (${outsideValues.join(' to ')}). The models did not learn from such values.`
    );
  }
}

/** @param misfits of each row, to which those of the column are added */
function addColumn(losses: ColumnLosses, column: Column, { first, end }: Rows, misfits: string[]): void {
  const misfitAt = misfitsOf(losses.step, column);
  for (let row = first; row < end; row++) {
    const misfit = misfitAt(row);
    if (misfit === null) continue;
    misfits[row - first] += `${misfits[row - first] === '' ? '' : '; '}${misfit} ${column.name}`;
    if (misfit === 'missing') losses.missing += 1;
    else if (misfit === 'unseen') {
      const value = String(column.values[row]);
      losses.unseen.set(value, (losses.unseen.get(value) ?? 0) + 1);
    } else {
      const value = Number(column.values[row]);
      losses.outside += 1;
      losses.smallest = Math.min(losses.smallest, value);
      losses.largest = Math.max(losses.largest, value);
    }
  }
}

/** A value of a column, as a person reads it. */
function textOf({ name, type }: ColumnStep, value: number): string {
  return String(type === 'category' ? value : valueAt({ name, type, values: Float64Array.of(value) }, 0));
}

function unseenSentence({ column, rows, unseen, unseenValues }: ColumnWarning): string {
  const named = unseenValues.map(({ value, count }) => `${JSON.stringify(value)} ${count}`).join(', ');
  const others = unseen - unseenValues.reduce((sum, { count }) => sum + count, 0);
  return (
    `Column "${column}": ${unseen} of ${rows} rows have values that the training data lack ` +
    `(${named}${others > 0 ? `, others ${others}` : ''}). They count as none of its categories.`
  );
}
