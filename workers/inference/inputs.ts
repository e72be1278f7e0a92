import type { PredictionColumn } from '../../core/ensemble/columns.ts';
import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import type { Fields } from '../data/fields.ts';
import { columnTypes, fitted, imputedColumns } from '../data/preprocessing/fitted.ts';
import { lastWindows, placesOf, seriesTypes } from '../data/series/last-windows.ts';
import { addCell, type Cell, emptyColumn, missingTest, type RawTable } from '../data/tables/cells.ts';
import type { Column } from '../data/tables/columns.ts';
import { columnsLike, columnsToPredict, type Table } from '../data/tables/table.ts';

/** One sample by the names of its columns. A value that is null, NaN or absent is missing. */
export type Row = Readonly<Record<string, Cell | undefined>>;

/** Samples to predict: as they are before preprocessing, or as the model takes them. */
export type EnsembleInput =
  /** Rows, or a table, with the columns of the training data; of a series, the last steps are one sample. */
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
  /** Of a series: what says which samples these are, shape `[N]` each. */
  places?: PredictionColumn[];
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
  if ('rows' in input) return prepareTable(tableOfRows(input.rows, preprocessing), preprocessing, featureShape);
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
  const series = preprocessing?.steps.find((step) => step.kind === 'series');
  if (series !== undefined) {
    const last = lastWindows(series, table);
    if (last.leftOut !== null)
      throw new RangeError(`${last.leftOut} Leave out these series, or give earlier rows too.`);
    const features = normalized(last.values, preprocessing);
    return { ...shaped(features, shapeOf(last.shape, featureShape)), extraInputs: {}, places: placesOf(series, last) };
  }
  return {
    ...shaped(normalized(numbersOf(table, preprocessing, featureShape), preprocessing), featureShape),
    extraInputs: {},
  };
}

/** Rows of a table without fitted columns: columns of numbers are the features. */
function numbersOf(table: Table, preprocessing: Preprocessing | null, shape: readonly (number | null)[]): Float32Array {
  const columns = featureColumns(table, preprocessing?.featureNames ?? null, shape);
  const values = new Float32Array(table.length * columns.length);
  columns.forEach((column, i) => {
    const own = column.values;
    const isDate = column.type === 'date' && preprocessing?.featureNames === undefined;
    if (!(own instanceof Float64Array) || isDate || own.some(Number.isNaN)) {
      throw new Error(
        `Column "${column.name}" of ${table.name} has ${isDate ? 'dates' : 'texts or missing values'}, and the run ` +
          'kept nothing that turns them into features (no preprocessing.json with a table). Give one column of ' +
          'numbers for each feature, in the order of the features.',
      );
    }
    own.forEach((value, row) => (values[row * columns.length + i] = value));
  });
  return values;
}

/**
 * The columns that are the features, in their order: by the names that the run kept, in which case others do not
 * matter; without names all columns, as many as there are features.
 * @throws Error that names the columns that are missing or too many
 */
function featureColumns(
  { name: table, columns }: Table,
  names: readonly string[] | null,
  shape: readonly (number | null)[],
): readonly Column[] {
  const isUnnamed = columns.every(({ name }, i) => name === `column ${i + 1}`);
  if (names !== null && !(isUnnamed && columns.length === names.length)) {
    return names.map((name) => {
      const column = columns.find((own) => own.name === name);
      if (column !== undefined) return column;
      const given = columns.map((own) => own.name).slice(0, 30);
      throw new Error(
        `${table} has no column "${name}", which is a feature of the training data. Its columns are ` +
          `${given.join(', ')}; the features are ${names.join(', ')}.`,
      );
    });
  }
  const count = product(shape);
  if (columns.length === count || shape.includes(null)) return columns;
  throw wrongCount(table, columns, shape, count);
}

function wrongCount(
  table: string,
  columns: readonly Column[],
  shape: readonly (number | null)[],
  count: number,
): Error {
  const { length } = columns;
  const difference =
    length > count
      ? `${listed(columns.slice(count).map(({ name }) => JSON.stringify(name)))} ` +
        `${length - count === 1 ? 'is' : 'are'} too many, if the order is that of training`
      : `${count - length} are missing after ${listed(columns.map(({ name }) => JSON.stringify(name)))}`;
  const many = shape.length > 1 ? ` (shape [${shape.join(', ')}])` : '';
  return new Error(
    `${table} has ${length} columns for ${count} features${many}: ${difference}. A row is one sample, and the run ` +
      `kept no names of features (featureNames of its data sets): give exactly its ${count} columns of numbers, in ` +
      `the order of training${shape.length > 1 ? ', or arrays (.npy)' : ''}.`,
  );
}

function listed(names: readonly string[]): string {
  return names.length <= 12 ? names.join(', ') : `${names.slice(0, 12).join(', ')} and ${names.length - 12} more`;
}

/**
 * The model's shape, with the given sizes where its own are free; without free sizes, samples of as many values may
 * have another shape.
 */
function shapeOf(given: readonly number[] | undefined, own: readonly (number | null)[]): readonly (number | null)[] {
  if (given === undefined) return own;
  const isFree = own.includes(null);
  const fits = isFree
    ? given.length === own.length && own.every((size, i) => size === null || size === given[i])
    : product(given) === product(own);
  if (fits) return isFree ? given : own;
  throw new Error(
    `The samples have the shape [${given.join(', ')}], the model takes ` +
      `[${own.map((size) => size ?? 'any').join(', ')}].`,
  );
}

/** @throws Error where the values are not whole samples */
function shaped(
  features: Float32Array,
  shape: readonly (number | null)[],
): Omit<PreparedInput, 'extraInputs' | 'places'> {
  const free = shape.includes(null);
  if (free) {
    throw new Error(
      `The model takes samples of shape [${shape.map((size) => size ?? 'any').join(', ')}]. Give the shape of ` +
        'these: { values, shape: [...] }.',
    );
  }
  const sizes = shape as readonly number[];
  const size = product(sizes);
  const samples = features.length / size;
  if (Number.isInteger(samples) && samples > 0) return { features, shape: sizes, samples };
  throw new Error(
    `${features.length} values are not one or more samples of shape [${sizes.join(', ')}], ${size} values ` +
      'each, which the model takes.',
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

/**
 * A table of the columns that were fitted, or else of all, read as the training table was.
 * @throws Error that names a column that no row has, or a value that is not of its type, unless it counts as missing
 */
export function tableOfRows(rows: readonly Row[], preprocessing: Preprocessing | null): Table {
  if (rows.length === 0) throw new Error('There are no rows to predict. Give one row a sample.');
  const { reading, featureNames } = preprocessing ?? {};
  const given = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const isMissing = missingTest(reading?.missingValues ?? []);
  const columns = given.map((name) => {
    const column = emptyColumn(name);
    for (const row of rows) addCell(column, row[name] ?? null, isMissing);
    return column;
  });
  const placeOf = (row: number) => `row ${row}`;
  const raw: RawTable = { source: 'rows', columns, length: rows.length, hasNames: true, placeOf };
  const series = preprocessing?.steps.find((step) => step.kind === 'series');
  const fittedTypes =
    series === undefined ? columnTypes(preprocessing ?? { format: 1, steps: [] }) : seriesTypes(series);
  const isFitted = Object.keys(fittedTypes).length > 0;
  const types = isFitted
    ? fittedTypes
    : Object.fromEntries((featureNames ?? given).map((name) => [name, 'number' as const]));
  const imputed = preprocessing === null ? new Set<string>() : imputedColumns(preprocessing);
  const wanted = columnsLike({ types, imputed, reading: reading ?? null });
  return { name: 'rows', length: rows.length, columns: columnsToPredict(raw, wanted) };
}

function product(sizes: readonly (number | null)[]): number {
  return sizes.reduce<number>((all, size) => all * (size ?? 1), 1);
}
