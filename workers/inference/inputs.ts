import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import type { Fields } from '../data/fields.ts';
import { columnTypes, fitted } from '../data/preprocessing/fitted.ts';
import type { Cell, RawTable } from '../data/tables/cells.ts';
import { type ColumnType, typedColumn } from '../data/tables/columns.ts';
import type { Table } from '../data/tables/table.ts';

/** One sample by the names of its columns. A value that is null, NaN or absent is missing. */
export type Row = Readonly<Record<string, Cell | undefined>>;

/** Samples to predict: as they are before preprocessing, or as the model takes them. */
export type EnsembleInput =
  /** Rows, or a table, with the columns of the training data. */
  | { rows: readonly Row[] }
  | { table: Table }
  /** Raw values `[N, ...featureShape]`: what was fitted is applied to them. A byte `v` stands for `v / 255`. */
  | { values: Float32Array | Uint8Array; extraInputs?: Fields; shape?: readonly number[] }
  /** Values `[N, ...featureShape]` as the model takes them. */
  | { prepared: Float32Array; extraInputs?: Fields; shape?: readonly number[] };

/** N samples as the model takes them. */
export interface PreparedInput {
  features: Float32Array;
  /** Shape of one sample. */
  shape: readonly number[];
  /** N. */
  samples: number;
  extraInputs: Fields;
}

/**
 * Applies what was fitted on the training split.
 * @param featureShape shape of one sample, null where a size is free
 * @throws Error that names what does not fit
 */
export function prepareInput(
  input: EnsembleInput,
  preprocessing: Preprocessing | null,
  featureShape: readonly (number | null)[],
): PreparedInput {
  if ('rows' in input) {
    const table = tableOfRows(input.rows, preprocessing);
    return prepareInput({ table }, preprocessing, featureShape);
  }
  if ('table' in input) return prepareTable(input.table, preprocessing, featureShape);
  const features = 'prepared' in input ? input.prepared : normalized(input.values, preprocessing);
  return { ...shaped(features, shapeOf(input.shape, featureShape)), extraInputs: input.extraInputs ?? {} };
}

function prepareTable(
  table: Table,
  preprocessing: Preprocessing | null,
  featureShape: readonly (number | null)[],
): PreparedInput {
  if (preprocessing?.steps.some(({ kind }) => kind === 'table' || kind === 'texts')) {
    const apply = fitted(preprocessing);
    return { ...shaped(apply.features(table), featureShape), extraInputs: apply.extraInputs(table) };
  }
  return { ...shaped(normalized(numbersOf(table), preprocessing), featureShape), extraInputs: {} };
}

/** Rows of a table without fitted columns: all its columns are features, in their order. */
function numbersOf({ name, columns, length }: Table): Float32Array {
  const values = new Float32Array(length * columns.length);
  columns.forEach((column, i) => {
    const own = column.values;
    if (!(own instanceof Float64Array) || own.some(Number.isNaN)) {
      throw new Error(
        `Column "${column.name}" of ${name} has texts or missing values, and the run kept nothing that turns them into features ` +
          '(no preprocessing.json with a table). Give one column of numbers for each feature, in the order of the features.',
      );
    }
    own.forEach((value, row) => (values[row * columns.length + i] = value));
  });
  return values;
}

/** The model's shape, with the given sizes where its own are free. */
function shapeOf(given: readonly number[] | undefined, own: readonly (number | null)[]): readonly (number | null)[] {
  if (given === undefined || !own.includes(null)) return own;
  const fits = given.length === own.length && own.every((size, i) => size === null || size === given[i]);
  if (fits) return given;
  throw new Error(
    `The samples have the shape [${given.join(', ')}], the model takes [${own.map((size) => size ?? 'any').join(', ')}].`,
  );
}

/** @throws Error where the values are not whole samples */
function shaped(features: Float32Array, shape: readonly (number | null)[]): Omit<PreparedInput, 'extraInputs'> {
  const free = shape.includes(null);
  if (free) {
    throw new Error(
      `The model takes samples of shape [${shape.map((size) => size ?? 'any').join(', ')}]. Give the shape of these: { values, shape: [...] }.`,
    );
  }
  const sizes = shape as readonly number[];
  const size = sizes.reduce((product, own) => product * own, 1);
  const samples = features.length / size;
  if (Number.isInteger(samples) && samples > 0) return { features, shape: sizes, samples };
  throw new Error(
    `${features.length} values are not one or more samples of shape [${sizes.join(', ')}], ${size} values each, which the model takes.`,
  );
}

/** Applies the standardizations. Bytes are divided by 255 first. */
function normalized(values: Float32Array | Uint8Array, preprocessing: Preprocessing | null): Float32Array {
  const scales = (preprocessing?.steps ?? []).filter((step) => step.kind === 'standardize');
  const unit = values instanceof Uint8Array ? 255 : 1;
  if (unit === 1 && scales.length === 0) return values as Float32Array;
  return Float32Array.from(values, (value, i) =>
    scales.reduce((own, { mean, std }) => (own - mean[i % mean.length]) / std[i % mean.length], value / unit),
  );
}

function tableOfRows(rows: readonly Row[], preprocessing: Preprocessing | null): Table {
  const types = new Map<string, ColumnType | undefined>(
    Object.entries(preprocessing ? columnTypes(preprocessing) : {}),
  );
  if (types.size === 0) for (const name of Object.keys(rows[0] ?? {})) types.set(name, 'number');
  if (rows.length === 0) throw new Error('There are no rows to predict. Give one row a sample.');
  const names = [...types.keys()];
  const absent = names.find((name) => !rows.some((row) => Object.hasOwn(row, name)));
  if (absent !== undefined) {
    throw new Error(`No row has the column "${absent}" of the training data, whose columns are ${names.join(', ')}.`);
  }
  const columns = names.map((name) => ({ name, cells: rows.map((row) => presentCell(row[name])) }));
  const placeOf = (row: number) => `row ${row}`;
  const raw: RawTable = { source: 'rows', columns, length: rows.length, hasNames: true, placeOf };
  return { name: 'rows', length: rows.length, columns: names.map((name, i) => typedColumn(raw, i, types.get(name))) };
}

function presentCell(cell: Cell | undefined): Cell {
  return cell === undefined || (typeof cell === 'number' && Number.isNaN(cell)) ? null : cell;
}
