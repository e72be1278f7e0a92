import type { ColumnWarning } from '../../core/ensemble/serving.ts';
import type { ColumnStep, Preprocessing, TextColumnStep } from '../../core/preprocessing/schema.ts';
import { valueAt } from '../data/preprocessing/table-cells.ts';
import { misfitsOf } from '../data/preprocessing/table-features.ts';
import type { Column } from '../data/tables/columns.ts';
import type { Table } from '../data/tables/table.ts';

/** Values that a warning names. */
const mostNamed = 3;

const imputed = 'They count as the value that training put for missing ones (preprocessing.json, impute).';

/** Rows of a table, from `first` to before `end`. */
interface Rows {
  first: number;
  end: number;
}

/** What of one column does not fit. */
interface ColumnLosses {
  step: ColumnStep | TextColumnStep;
  missing: number;
  /** That a table lacks the column, in words. */
  absence: string | null;
  /** Values that are not of the column's type, and categories that the training split lacks, with their rows. */
  mistyped: Map<string, number>;
  unseen: Map<string, number>;
  outside: number;
  /** The farthest values outside. */
  smallest: number;
  largest: number;
}

/**
 * Counts what does not fit the training split in tables that are predicted: rows without any value, columns that are
 * absent, missing values, values of another type, categories that the split lacks, and values outside its range.
 */
export class TableLosses {
  readonly #columns: ColumnLosses[];
  #rows = 0;
  #emptyRows = 0;

  constructor(preprocessing: Preprocessing | null) {
    const none = { missing: 0, absence: null, outside: 0, smallest: Infinity, largest: -Infinity };
    this.#columns = (preprocessing?.steps ?? []).flatMap((own) =>
      own.kind === 'table' || own.kind === 'texts'
        ? own.columns.map((step) => ({ step, mistyped: new Map(), unseen: new Map(), ...none }))
        : [],
    );
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

  /** One for each column with losses, in the order of the features, then of the texts. */
  warnings(): ColumnWarning[] {
    return this.#found().map(({ warning }) => warning);
  }

  /** The same for people, with the rows that have no prediction. */
  sentences(): string[] {
    const empty = `${this.#emptyRows} rows without any value are left out: they have no line among the predictions.`;
    const all = this.#found();
    const present = all.filter(({ losses, warning }) => losses.absence === null && warning.missing > 0);
    const missing = present.map(({ warning }) => `"${warning.column}" ${warning.missing}`).join(', ');
    return [
      ...(this.#emptyRows === 0 ? [] : [empty]),
      ...all.flatMap(absentSentence),
      ...(missing === '' ? [] : [`Of ${this.#rows} rows, these have no value in a column: ${missing}. ${imputed}`]),
      ...all.flatMap(mistypedSentence),
      ...all.flatMap(unseenSentence),
      ...all.flatMap(outsideSentence),
    ];
  }

  #found(): Found[] {
    return this.#columns.flatMap((losses) => {
      const { step, missing, outside } = losses;
      const [mistyped, unseen] = [totalOf(losses.mistyped), totalOf(losses.unseen)];
      if (missing + mistyped + unseen + outside === 0) return [];
      const warning = {
        column: step.name,
        rows: this.#rows,
        missing,
        mistyped,
        mistypedValues: commonest(losses.mistyped),
        unseen,
        unseenValues: commonest(losses.unseen),
        outside,
        outsideValues: outside === 0 ? [] : [...new Set([losses.smallest, losses.largest].map(textIn(step)))],
      };
      return [{ losses, warning }];
    });
  }
}

/** What of a column does not fit, and its counts. */
interface Found {
  losses: ColumnLosses;
  warning: ColumnWarning;
}

type Counts = ReadonlyMap<string, number>;

function totalOf(counts: Counts): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function commonest(counts: Counts): ColumnWarning['unseenValues'] {
  const descending = [...counts].sort(([, a], [, b]) => b - a);
  return descending.slice(0, mostNamed).map(([value, count]) => ({ value, count }));
}

/** @param misfits of each row, to which those of the column are added */
function addColumn(losses: ColumnLosses, column: Column, { first, end }: Rows, misfits: string[]): void {
  const misfitAt = misfitsOf(losses.step, column);
  losses.absence ??= column.absence ?? null;
  for (let row = first; row < end; row++) {
    const misfit = misfitAt(row);
    if (misfit === null) continue;
    misfits[row - first] += `${misfits[row - first] === '' ? '' : '; '}${misfit} ${column.name}`;
    if (misfit === 'missing') losses.missing += 1;
    else if (misfit === 'mistyped') count(losses.mistyped, 'mistyped' in column ? column.mistyped?.get(row) : null);
    else if (misfit === 'unseen') count(losses.unseen, column.values[row]);
    else {
      const value = Number(column.values[row]);
      losses.outside += 1;
      losses.smallest = Math.min(losses.smallest, value);
      losses.largest = Math.max(losses.largest, value);
    }
  }
}

function count(counts: Map<string, number>, value: unknown): void {
  const text = value instanceof Date ? value.toISOString() : String(value);
  counts.set(text, (counts.get(text) ?? 0) + 1);
}

/** A value of a column, as a person reads it. */
function textIn(step: ColumnStep | TextColumnStep): (value: number) => string {
  const type = 'type' in step && step.type !== 'category' ? step.type : 'number';
  return (value) => String(valueAt({ name: step.name, type, values: Float64Array.of(value) }, 0));
}

function absentSentence({ losses: { absence }, warning: { missing, rows } }: Found): string[] {
  return absence === null ? [] : [`${absence}: ${missing} of ${rows} rows have no value for it. ${imputed}`];
}

function mistypedSentence({ losses: { step }, warning }: Found): string[] {
  const { column, rows, mistyped, mistypedValues } = warning;
  if (mistyped === 0 || !('type' in step)) return [];
  return [
    `Column "${column}": ${mistyped} of ${rows} rows have a value that is no ${step.type} ` +
      `(${named(mistypedValues, mistyped)}). They count as missing.`,
  ];
}

function unseenSentence({ warning: { column, rows, unseen, unseenValues } }: Found): string[] {
  if (unseen === 0) return [];
  return [
    `Column "${column}": ${unseen} of ${rows} rows have values that the training data lack ` +
      `(${named(unseenValues, unseen)}). They count as none of its categories.`,
  ];
}

function outsideSentence({ losses: { step }, warning: { column, rows, outside, outsideValues } }: Found): string[] {
  if (outside === 0 || !('smallest' in step)) return [];
  const [smallest, largest] = [step.smallest, step.largest].map(textIn(step));
  return [
    `Column "${column}": ${outside} of ${rows} rows have values outside the range of the training data, ` +
      `${smallest} to ${largest} (${outsideValues.join(' to ')}). The models did not learn from such values.`,
  ];
}

function named(values: ColumnWarning['unseenValues'], total: number): string {
  const others = total - values.reduce((sum, { count: own }) => sum + own, 0);
  const shown = values.map(({ value, count: own }) => `${JSON.stringify(value)} ${own}`);
  return [...shown, ...(others > 0 ? [`others ${others}`] : [])].join(', ');
}
