import type { ColumnWarning } from '../../core/ensemble/column-warnings.ts';
import type { Preprocessing, TableStep } from '../../core/preprocessing/schema.ts';
import { unseenValues } from '../data/preprocessing/table-features.ts';
import { isMissingAt } from '../data/tables/columns.ts';
import type { Table } from '../data/tables/table.ts';

/** Values of unseen categories that a warning names. */
const mostNamed = 3;

/** Rows of a table, from `first` to before `end`. */
interface Rows {
  first: number;
  end: number;
}

/**
 * Counts what predictions of tables cannot use: rows without any value, missing values, and categories that the
 * training split lacks.
 */
export class TableLosses {
  readonly #step: TableStep | undefined;
  readonly #missing = new Map<string, number>();
  readonly #unseen = new Map<string, Map<string, number>>();
  #rows = 0;
  #emptyRows = 0;

  constructor(preprocessing: Preprocessing | null) {
    this.#step = preprocessing?.steps.find((step) => step.kind === 'table');
  }

  /** @param rows by default all */
  add(table: Table, rows: Rows = { first: 0, end: table.length }): void {
    this.#rows += rows.end - rows.first;
    this.#emptyRows += table.emptyRows ?? 0;
    for (const step of this.#step?.columns ?? []) {
      const column = table.columns.find(({ name }) => name === step.name);
      if (column === undefined) continue;
      let missing = this.#missing.get(step.name) ?? 0;
      for (let row = rows.first; row < rows.end; row++) if (isMissingAt(column, row)) missing += 1;
      this.#missing.set(step.name, missing);
      const all = this.#unseen.get(step.name) ?? new Map<string, number>();
      this.#unseen.set(step.name, all);
      for (const value of unseenValues(step, column, rows)) all.set(value, (all.get(value) ?? 0) + 1);
    }
  }

  /** One for each column with losses, in the order of the features. */
  warnings(): ColumnWarning[] {
    return [...this.#missing].flatMap(([column, missing]) => {
      const values = [...(this.#unseen.get(column) ?? [])].sort(([, a], [, b]) => b - a);
      const unseen = values.reduce((sum, [, count]) => sum + count, 0);
      if (missing === 0 && unseen === 0) return [];
      const unseenValues = values.slice(0, mostNamed).map(([value, count]) => ({ value, count }));
      return [{ column, rows: this.#rows, missing, unseen, unseenValues }];
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
      ...all.filter(({ unseen }) => unseen > 0).map(sentenceOf),
    ];
  }
}

function sentenceOf({ column, rows, unseen, unseenValues }: ColumnWarning): string {
  const named = unseenValues.map(({ value, count }) => `${JSON.stringify(value)} ${count}`).join(', ');
  const others = unseen - unseenValues.reduce((sum, { count }) => sum + count, 0);
  return (
    `Column "${column}": ${unseen} of ${rows} rows have values that the training data lack ` +
    `(${named}${others > 0 ? `, others ${others}` : ''}). They count as none of its categories.`
  );
}
