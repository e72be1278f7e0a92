import type { Preprocessing, TargetMeaning } from '../../../core/preprocessing/schema.ts';
import { splitByTime } from '../../../core/preprocessing/time-steps.ts';
import { Generator } from '../../../core/random/generator.ts';
import { createDataset, createSplits, type Dataset, type Splits } from '../dataset.ts';
import {
  type Division,
  divideRows,
  divisionAt,
  type Fold,
  numbersOf,
  type RowCounts,
  type RowSplits,
} from '../assign-rows.ts';
import { missingAt, missingRows, missingTexts } from '../preprocessing/missing.ts';
import { noteData, throwProblems } from '../notes.ts';
import { categoryFeatures, fitColumn, tableFeatures, whyUnfit } from '../preprocessing/table-features.ts';
import { fitTexts, textIds, textInputs, type TextColumnOptions } from '../preprocessing/text-columns.ts';
import { type Column, isMissingAt } from './columns.ts';
import { namedSplits } from './split-column.ts';
import { columnOf, type Table } from './table.ts';
import { classWeightsOf, type ClassWeights, fitTarget, targetsOf } from './targets.ts';

/**
 * What to do with rows that lack a value. A target is never imputed; `mask` leaves a target of numbers out of the loss
 * and the metrics in such rows.
 */
export type MissingPolicy = 'refuse' | 'drop' | 'impute' | 'mask';

/** Which columns a model learns from and predicts. */
export interface TableDatasetOptions {
  /**
   * The column to predict, by name or index; several columns of numbers for several values. The last column by default.
   */
  target?: string | number | readonly string[];
  /**
   * `classes`: each distinct value is a class, in natural order. `labels`: each column says with 0 and 1, or false and
   * true, whether a sample has the label of its name. By default numbers are `values`, all else `classes`.
   */
  targetKind?: 'values' | 'classes' | 'labels';
  /**
   * Rows without a value: `refuse` (default), `drop`, `impute`, for targets of numbers `mask`; or the policy of columns
   * by name.
   */
  missing?: MissingPolicy | Readonly<Record<string, MissingPolicy>>;
  /** The column that holds the samples' weights in loss and metrics, which is then no feature. */
  weights?: string;
  /**
   * Columns of texts, by name, that become ids of tokens: an input of the column's name, or the features where nothing
   * else is one.
   */
  text?: Readonly<Record<string, TextColumnOptions>>;
  /**
   * The column whose value rows of one group share, which is then no feature: a group lies in one split, fold and
   * hold-out.
   */
  group?: string;
  /** Mean 0 and standard deviation 1 on the training split for columns of numbers and dates; true by default. */
  standardize?: boolean;
}

/** How to split a table. */
export interface TableSplitOptions extends TableDatasetOptions {
  /** Decides the splits. */
  seed: number;
  /** Size of the validation split: below 1 a fraction of all rows, from 1 a count; 0 by default. */
  validation?: number;
  /** Size of the test split; 0 by default. */
  test?: number;
  /** Makes fold `index` (from 0) of `count` the test split, in place of `test`. Every seed gives other folds. */
  fold?: Fold | undefined;
  /** Whether all splits, folds and hold-outs have the classes in the same proportions. */
  stratify?: boolean;
  /**
   * The column of dates or numbers by which the table is split, which is then no feature: the latest rows test, those
   * before them validate. Rows of one time lie in one split, and hold-outs are blocks of time.
   */
  time?: string;
  /**
   * The column that names the split of each row, which is then no feature: `train`, `valid`, `Test` and alike. Without
   * rows for validation, these are drawn from the training rows.
   */
  split?: string;
  /**
   * Weights of the training split's classes in the loss, never in metrics: by name, or `balanced`: N / (K · samples of
   * the class).
   */
  classWeights?: ClassWeights;
  /** Mean 0 and standard deviation 1 for targets that are values; false by default. */
  standardizeTargets?: boolean;
}

/**
 * Splits a table, fits its columns on the training split and applies them to all splits. Features are float32 `[N, F]`:
 * numbers, dates and booleans give one each, a category one for each value that the training split has. The splits
 * carry what was fitted.
 * @throws Error that names column, row and remedy
 */
export function tableSplits(table: Table, options: TableSplitOptions): Splits {
  const parts = partsOf(table, options);
  const rows = completeRows(table, parts, options);
  const splits = assign(table, rows, options, parts);
  const { steps, target } = fit(table, parts, splits.train, options);
  const datasetOf = (name: string, own: Int32Array) => toDataset(table, name, own, { steps, target, parts });
  const train = datasetOf(table.name, splits.train);
  const { reading } = table;
  const preprocessing: Preprocessing = { format: 1, steps, target, ...(reading && { reading }) };
  return createSplits({
    train: options.classWeights === undefined ? train : weighted(train, options.classWeights),
    validation: splits.validation.length > 0 ? datasetOf(`${table.name} validation`, splits.validation) : undefined,
    test: splits.test.length > 0 ? datasetOf(`${table.name} test`, splits.test) : undefined,
    preprocessing,
  });
}

/** The whole table as one data set, with values as they are: `standardize` is false by default. */
export function tableDataset(table: Table, options: TableDatasetOptions = {}): Dataset {
  const own = { standardize: false, ...options };
  const parts = partsOf(table, own);
  const rows = completeRows(table, parts, own);
  return toDataset(table, table.name, rows, { ...fit(table, parts, rows, own), parts });
}

/** A table's columns by their use, and how its rows are divided. */
interface Parts extends Division {
  targets: Column[];
  areLabels: boolean;
  features: Column[];
  weights: Column | null;
  group: Column | null;
  time: Column | null;
  split: Column | null;
  /** The time of each row; null where the table is not split by time. */
  times: Float64Array | null;
}

function partsOf(table: Table, options: Partial<TableSplitOptions>): Parts {
  const { target = table.columns.length - 1, weights, group, time, split, stratify = false } = options;
  if (table.columns.length < 2)
    throw new Error(`${table.name} has one column; a table needs a feature and a target at least.`);
  const names = typeof target === 'object' ? target : [target];
  const targets = names.map((name) => columnOf(table, name));
  const [weightColumn, groupColumn, timeColumn, splitColumn] = [weights, group, time, split].map((name) =>
    name === undefined ? null : columnOf(table, name),
  );
  const others = new Set<Column | null>([...targets, weightColumn, groupColumn, timeColumn, splitColumn]);
  const features = table.columns.filter((column) => !others.has(column));
  if (features.length === 0) throw new Error(`${table.name} has no columns left for features.`);
  if (weightColumn !== null && !(weightColumn.values instanceof Float64Array)) {
    throw new Error(`Column "${weightColumn.name}" of ${table.name} is to hold weights, but not numbers.`);
  }
  return {
    targets,
    areLabels: options.targetKind === 'labels',
    features,
    weights: weightColumn,
    group: groupColumn,
    time: timeColumn,
    split: splitColumn,
    times: timesOf(table, timeColumn, options),
    groups: groupColumn && numbersOf(groupColumn),
    strata: stratify ? numbersOf(targets[0]) : null,
  };
}

function policyOf({ missing = 'refuse' }: TableDatasetOptions, column: string): MissingPolicy {
  if (typeof missing === 'string') return missing;
  return Object.hasOwn(missing, column) ? missing[column] : 'refuse';
}

/**
 * The rows that are used: all but those dropped. A row stays where one of several masked targets has a value.
 * @throws Error that names each column with a missing value that nothing replaces, and each that cannot become features
 */
function completeRows(table: Table, parts: Parts, options: TableDatasetOptions): Int32Array {
  for (const name of Object.keys(typeof options.missing === 'object' ? options.missing : {})) columnOf(table, name);
  const { targets, weights, group, time, split, features } = parts;
  const policies = [targets, [weights, group, time, split], features].flatMap((columns, use) =>
    columns.flatMap((column) => (column === null ? [] : [{ column, use, policy: policyOf(options, column.name) }])),
  );
  const dropped = policies.filter(({ policy }) => policy === 'drop').map(({ column }) => column);
  const isDropped = (row: number) => dropped.some((column) => isMissingAt(column, row));
  const all = Int32Array.from({ length: table.length }, (_, row) => row);
  const problems = policies.flatMap(({ column, use, policy }) => {
    const isFeature = use === 2 && !Object.hasOwn(options.text ?? {}, column.name);
    const unfit = isFeature ? whyUnfit(column, { name: table.name, rows: all }) : null;
    if (unfit !== null) return [unfit];
    const isImpossible = (policy === 'impute' && use < 2) || (policy === 'mask' && use > 0);
    if (policy !== 'refuse' && !isImpossible) return [];
    const row = all.findIndex((own) => isMissingAt(column, own) && !(isImpossible && isDropped(own)));
    if (row < 0) return [];
    return [use === 2 ? missingAt(table, column, row).message : missingTarget(table, column, row, use === 0)];
  });
  throwProblems(`${table.name}: ${problems.length} columns cannot be used as they are.`, problems);
  const masked = parts.targets.filter((column) => policyOf(options, column.name) === 'mask');
  const areAllMasked = masked.length === parts.targets.length;
  const rows = all.filter(
    (row) => !isDropped(row) && !(areAllMasked && masked.every((column) => isMissingAt(column, row))),
  );
  noteRows(table, rows.length, [...dropped, ...masked]);
  return rows;
}

/** Says what missing values cost, where they leave out rows or targets. */
function noteRows({ name, length }: Table, kept: number, columns: readonly Column[]): void {
  const counts = columns.flatMap((column) => {
    const missing = Array.from({ length }, (_, row) => row).filter((row) => isMissingAt(column, row)).length;
    return missing === 0 ? [] : [`${JSON.stringify(column.name)} ${length - missing}`];
  });
  if (counts.length === 0) return;
  noteData(`${name}: ${kept} of ${length} rows are used. Rows with a value: ${counts.join(', ')}.`);
}

function missingTarget(table: Table, column: Column, row: number, isTarget: boolean): string {
  const name = JSON.stringify(column.name);
  const masks =
    isTarget && column.values instanceof Float64Array
      ? `, or missing: { ${name}: 'mask', ... } to learn from the other targets of such rows`
      : '';
  return (
    `Column ${name} of ${table.name} has no value in ${missingRows(column, row)}. Targets, weights, groups, times ` +
    `and splits cannot be imputed: choose missing: { ${name}: 'drop', ... }${masks}.${missingTexts(table, column)}`
  );
}

function assign(table: Table, rows: Int32Array, options: TableSplitOptions, parts: Parts): RowSplits {
  const { times, split, targets, features } = parts;
  if (split !== null) {
    const named = namedSplits(table, rows, { column: split, compared: [...features, ...targets] }, options);
    if (named.validation.length > 0) return named;
    const counts = { test: 0, validation: countOf(table, 'validation', options.validation, named.train.length) };
    return { ...divide(table, named.train, counts, parts, options), test: named.test };
  }
  const { fold } = options;
  const counts = {
    test: fold ? 0 : countOf(table, 'test', options.test, rows.length),
    validation: countOf(table, 'validation', options.validation, rows.length),
    fold,
  };
  if (times === null) return divide(table, rows, counts, parts, options);
  const splits = splitByTime(
    table.name,
    Float64Array.from(rows, (row) => times[row]),
    counts,
  );
  const rowsAt = (places: Int32Array): Int32Array => places.map((place) => rows[place]);
  return { train: rowsAt(splits.train), validation: rowsAt(splits.validation), test: rowsAt(splits.test) };
}

function divide(
  { name }: Table,
  rows: Int32Array,
  counts: RowCounts,
  division: Division,
  { seed }: TableSplitOptions,
): RowSplits {
  return divideRows(name, rows, counts, division, new Generator(seed, 'table-splits'));
}

function timesOf({ name }: Table, time: Column | null, options: Partial<TableSplitOptions>): Float64Array | null {
  if (time === null) return null;
  if (!(time.values instanceof Float64Array) || time.type === 'boolean') {
    throw new TypeError(
      `Column "${time.name}" of ${name} is to be the time, but holds no dates or numbers (${time.type}).`,
    );
  }
  for (const option of ['group', 'stratify', 'fold'] as const) {
    if (!options[option]) continue;
    throw new Error(
      `Splitting ${name}: the latest rows by "${time.name}" test, so that ${option} cannot decide as well. Leave out ` +
        `${option}, or time.`,
    );
  }
  return time.values;
}

function countOf({ name }: Table, split: string, size = 0, rows: number): number {
  const count = size < 1 ? Math.round(size * rows) : size;
  if (Number.isInteger(count) && count >= (size === 0 ? 0 : 1) && count < rows) return count;
  throw new RangeError(
    `Splitting ${name}: a ${split} split of ${size} is not possible with ${rows} rows. Give a fraction below 1 ` +
      'that holds at least one row, or a whole number of rows; leave it out for none.',
  );
}

function fit(table: Table, { features, targets }: Parts, rows: Int32Array, options: Partial<TableSplitOptions>) {
  const { standardize = true } = options;
  if (rows.length === 0)
    throw new Error(`${table.name} has no rows without missing values. Impute some of its columns.`);
  const imputes = (column: string) => policyOf(options, column) === 'impute';
  const about = { name: table.name, rows, standardize, imputes };
  const { text = {} } = options;
  for (const name of Object.keys(text)) requireFeature(table, features, name);
  const [texts, others] = [true, false].map((isText) =>
    features.filter(({ name }) => Object.hasOwn(text, name) === isText),
  );
  const problems = others.flatMap((column) => whyUnfit(column, about) ?? []);
  throwProblems(`${table.name}: ${problems.length} columns cannot be used as they are.`, problems);
  const tableSteps: Preprocessing['steps'] =
    others.length === 0 ? [] : [{ kind: 'table', columns: others.map((column) => fitColumn(column, about)) }];
  // Without other columns, the first texts are the features.
  const inputOf = (name: string, i: number): string | null => (i === 0 && others.length === 0 ? null : name);
  const columns = texts.map(({ name }, i) =>
    fitTexts(table, name, text[name], { rows, imputes, input: inputOf(name, i) }),
  );
  const steps: Preprocessing['steps'] = [
    ...tableSteps,
    ...(columns.length === 0 ? [] : [{ kind: 'texts' as const, columns }]),
  ];
  return { steps, target: fitTarget(table.name, targets, rows, options) };
}

function requireFeature(table: Table, features: readonly Column[], name: string): void {
  if (features.includes(columnOf(table, name))) return;
  throw new Error(
    `Column "${name}" of ${table.name} is to be text for the model, but has another use: it is a target, ` +
      'weight or group.',
  );
}

interface FittedTable {
  steps: Preprocessing['steps'];
  target: TargetMeaning;
  parts: Parts;
}

function toDataset(table: Table, name: string, rows: Int32Array, { steps, target, parts }: FittedTable): Dataset {
  const tableStep = steps.find((step) => step.kind === 'table');
  const texts = steps.flatMap((step) => (step.kind === 'texts' ? step.columns : []));
  const extraInputs = textInputs(texts, table, rows);
  const [main] = texts;
  const { features, width } =
    tableStep === undefined
      ? { features: Float32Array.from(textIds(main, table, rows)), width: main.length }
      : tableFeatures(tableStep, table, rows);
  const names =
    tableStep?.columns.flatMap((step) => (step.type === 'category' || step.impute ? [] : [step.name])) ?? [];
  const categories = categoryFeatures(tableStep?.columns ?? []);
  const weights = parts.weights && Float32Array.from(rows, (row) => Number(parts.weights?.values[row]));
  return createDataset({
    name,
    featureShape: [width],
    features,
    ...(names.length === width && { featureNames: names }),
    ...(categories.length > 0 && { categories }),
    ...targetsOf(name, target, parts.targets, rows),
    ...(parts.areLabels && { classNames: parts.targets.map((column) => column.name) }),
    ...(weights && { weights }),
    ...divisionAt(parts, rows),
    ...(parts.times && { spans: spansAt(parts.times, rows) }),
    ...(Object.keys(extraInputs).length > 0 && { extraInputs }),
  });
}

/** The time of each row as a span of one step, counted over all times of the table; shape `[N, 2]`. */
function spansAt(times: Float64Array, rows: Int32Array): Int32Array {
  const distinct = [...new Set(times)].sort((a, b) => a - b);
  const positions = new Map(distinct.map((time, position) => [time, position]));
  return Int32Array.from({ length: 2 * rows.length }, (_, i) => (positions.get(times[rows[i >> 1]]) ?? 0) + (i & 1));
}

function weighted(train: Dataset, classWeights: ClassWeights): Dataset {
  const own = classWeightsOf(train, classWeights);
  const lossWeights = Float32Array.from(train.targets, (label, i) => own[label] * (train.weights?.[i] ?? 1));
  return createDataset({ ...train, lossWeights });
}
