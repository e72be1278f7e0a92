import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import type { Tokenizer } from '../../core/tokens/tokenizer.ts';
import {
  checkExtras,
  describeExtras,
  type Extras,
  gatherExtras,
  gatherForBatch,
  type SampleExtras,
  sliceExtras,
} from './fields.ts';
import type { SampleSource, SampleStream } from './streams/sources.ts';

/**
 * Data sets in memory. Legend: N samples, B batch, C channels (last axis of a sample), T targets a sample.
 */

/**
 * Normalization `(value - mean) / std` of C channels; value `i` of a sample, channels last, belongs to channel `i % C`.
 */
export interface Normalization {
  /** Shape `[C]`. */
  readonly mean: readonly number[];
  /** Shape `[C]`. */
  readonly std: readonly number[];
}

/** The features of a column of categories: 1 for the category of the sample, else 0. */
export interface CategoryFeatures {
  /** Position of the first one. */
  readonly start: number;
  /** Number of categories. */
  readonly count: number;
}

/** N samples in memory, with a target each. */
export interface Dataset extends SampleExtras {
  /** The name in messages and on pages. */
  readonly name: string;
  /** Number of samples, N. */
  readonly length: number;
  /** Shape of one sample, channels last: `[28, 28, 1]`, `[6]`. */
  readonly featureShape: readonly number[];
  /**
   * Names of a sample's values, where each is a column of a table: new tables may then have further columns, in any
   * order.
   */
  readonly featureNames?: readonly string[];
  /** Where the features of columns of categories lie, one feature for each category. */
  readonly categories?: readonly CategoryFeatures[];
  /** Raw values, shape `[N, ...featureShape]`. A byte `v` stands for `v / 255`. Batches apply the normalization. */
  readonly features: Float32Array | Uint8Array;
  /** Where the features are read, batch by batch, if they are not in memory; `features` is then empty. */
  readonly source?: SampleSource;
  /** Where the samples come one after the other, of a training split; `features` and `targets` are then empty. */
  readonly stream?: SampleStream;
  /**
   * Class labels (Int32Array, shape `[N]`) or values (Float32Array, shape `[N]` or `[N, T]`); `[N, ...targetShape]`
   * where that is given.
   */
  readonly targets: Int32Array | Float32Array;
  /** Shape of one sample's targets, such as `[steps]`; by default a single target, or `[T]`. */
  readonly targetShape?: readonly number[];
  /** Names of the K classes, for the dashboard. */
  readonly classNames?: readonly string[];
  /** Number of classes, K; labels lie in [0, K). */
  readonly classCount?: number;
  /** What batches apply to the features. */
  readonly normalization?: Normalization;
  /** What made ids of tokens out of texts, where the features are these: pages show the texts. */
  readonly tokenizer?: Tokenizer;
  /**
   * Where ranks validate on what they hold out: the ranks that held out each sample, as many for each; shape `[N, P]`.
   * Set by Tutti.
   */
  readonly heldOutBy?: Int32Array;
}

/** A value for each split. */
interface EachSplit<T> {
  train: T;
  validation?: T;
  test?: T;
  /** Samples whose targets are ignored, for strategies that learn without labels. */
  unlabelled?: T;
}

/** The splits of a project's data. Without `validation` there are no metrics during training. */
export interface Splits extends Readonly<EachSplit<Dataset>> {
  /** What was fitted on the training split; a run keeps it in `preprocessing.json`. */
  readonly preprocessing?: Preprocessing;
  /**
   * Samples of other kinds by name, on which `tutti calibrate` measures whether the ensemble notices that they are
   * outside the training data. Their targets do not matter. Training does not read them: give a function where reading
   * them takes time or memory.
   */
  readonly outOfDistribution?: Readonly<Record<string, Dataset | (() => Dataset | Promise<Dataset>)>>;
  /** What reading the data found or assumed. Set by Tutti. */
  readonly notes?: readonly string[];
  /** What `tutti discover` shows of the samples of `train`, which is the pool that it searches. */
  readonly pool?: PoolNotes;
}

/** What is known of a pool's samples beside their features. */
export interface PoolNotes {
  /** A text for each sample by column, such as its SMILES; shape `[N]` each. */
  readonly texts?: Readonly<Record<string, readonly string[]>>;
  /** Why samples are missing from the pool, one sentence each. */
  readonly excluded?: readonly string[];
}

/** B samples as a model's input: scaled, normalized, in the order of the requested indices. */
export interface Batch extends Extras {
  /** Values, shape `[B, ...]`, row-major. */
  features: Float32Array;
  /** Shape of `features`. */
  featureShape: number[];
  /** Shape `[B]`, or `[B, T]` where a sample has several targets. */
  targets: Int32Array | Float32Array;
  /** Shape of `targets`. */
  targetShape: number[];
  /** Where samples were mixed with others: the share λ of their own targets in the loss, and the others' targets. */
  mixed?: { share: number; partner: Pick<Batch, 'targets'> & Omit<Extras, 'extraInputs'> };
}

/**
 * Makes a data set of arrays: checks that they fit each other and freezes the result. `classCount` defaults to the
 * number of class names.
 * @throws Error that names the data set, the sizes found and the rule they break.
 */
export function createDataset(fields: Omit<Dataset, 'length'>): Dataset {
  const { name, featureShape, features, targets, source, stream } = fields;
  const size = product(featureShape);
  const length = source?.length ?? stream?.length ?? features.length / size;
  if (!(featureShape.every(isPositiveInteger) && isPositiveInteger(length))) {
    throw new Error(
      `Data set "${name}": ${features.length} feature values are not one or more samples of shape ` +
        `[${featureShape.join(', ')}] (${size} values each).`,
    );
  }
  if (stream === undefined) checkTargets(fields, length);
  checkExtras(name, length, targets.length, fields);
  const classCount = fields.classCount ?? fields.classNames?.length;
  if (classCount !== undefined) checkLabels(name, targets, classCount);
  if (fields.normalization) checkNormalization(name, fields.normalization, size);
  if (fields.featureNames !== undefined) checkNames(name, fields.featureNames, size);
  return Object.freeze({ ...fields, length, featureShape: Object.freeze([...featureShape]), classCount });
}

function checkNames(dataset: string, names: readonly string[], size: number): void {
  if (names.length === size && new Set(names).size === size) return;
  throw new Error(
    `Data set "${dataset}": ${names.length} featureNames for samples of ${size} values. Give each value its own name.`,
  );
}

function checkTargets({ name, targets, targetShape }: Omit<Dataset, 'length'>, length: number): void {
  const targetSize = targets.length / length;
  const single = targets instanceof Int32Array ? targetSize === 1 : isPositiveInteger(targetSize);
  if (targetShape === undefined ? single : targetSize === product(targetShape)) return;
  const shape = targetShape === undefined ? '' : ` of shape [${targetShape.join(', ')}]`;
  throw new Error(
    `Data set "${name}": ${targets.length} targets for ${length} samples${shape}. Give one class label a sample ` +
      '(Int32Array), or the same number of values for every sample (Float32Array); for other shapes, give ' +
      'targetShape.',
  );
}

/**
 * Checks that the samples' shapes and the classes of all splits agree, and freezes them.
 * @throws Error that names both splits.
 */
export function createSplits(splits: Splits): Splits {
  const { train } = splits;
  for (const other of [splits.validation, splits.test, splits.unlabelled]) {
    if (!other) continue;
    const sameShape = other.featureShape.join() === train.featureShape.join();
    if (other !== splits.unlabelled) checkSameFields(train, other);
    if (!sameShape || other.classCount !== train.classCount) {
      throw new Error(
        `Splits disagree: "${train.name}" has samples of shape [${train.featureShape.join(', ')}] and ` +
          `${train.classCount ?? 'no'} classes, "${other.name}" [${other.featureShape.join(', ')}] and ` +
          `${other.classCount ?? 'no'} classes. All splits need the same.`,
      );
    }
  }
  return Object.freeze({ ...splits });
}

/** Weights and masks may differ: often only training has them. */
function checkSameFields(train: Dataset, other: Dataset): void {
  const fieldsOf = ({ extraInputs, extraTargets }: Dataset) => describeExtras({ extraInputs, extraTargets });
  if (fieldsOf(train) === fieldsOf(other)) return;
  throw new Error(
    `Splits disagree: "${train.name}" has ${fieldsOf(train)}, "${other.name}" has ${fieldsOf(other)}. All ` +
      'splits need the same.',
  );
}

/** Applies `change` to every split. No other function lists the splits, so that none is forgotten. */
export function mapEachSplit<A, B>(splits: Readonly<EachSplit<A>>, change: (split: A) => B): EachSplit<B> {
  const { train, validation, test, unlabelled } = splits;
  return {
    train: change(train),
    validation: validation && change(validation),
    test: test && change(test),
    unlabelled: unlabelled && change(unlabelled),
  };
}

/**
 * Makes a batch of the samples at `indices`: bytes divided by 255, then normalized.
 *
 * @param room - memory whose beginning receives the features; new memory by default
 */
export function gatherBatch(dataset: Dataset, indices: Int32Array, room?: Float32Array): Batch {
  requireInMemory(dataset);
  checkIndices(dataset, indices);
  const featureCount = indices.length * product(dataset.featureShape);
  const rows = room?.subarray(0, featureCount) ?? new Float32Array(featureCount);
  const targetSize = dataset.targets.length / dataset.length;
  return {
    features: gatherFeatures(dataset, indices, rows),
    featureShape: [indices.length, ...dataset.featureShape],
    targets: gatherTargets(dataset, indices),
    targetShape: [indices.length, ...(dataset.targetShape ?? (targetSize === 1 ? [] : [targetSize]))],
    ...gatherForBatch(dataset, dataset.length, indices),
  };
}

/** Copies the samples at `indices`, in that order, to a new data set. */
export function subset(dataset: Dataset, indices: Int32Array): Dataset {
  checkIndices(dataset, indices);
  if (dataset.source !== undefined) return subsetOnDisk(dataset, dataset.source, indices);
  requireInMemory(dataset);
  const isBytes = dataset.features instanceof Uint8Array;
  const values = indices.length * product(dataset.featureShape);
  return createDataset({
    ...dataset,
    features: copyRows(dataset.features, isBytes ? new Uint8Array(values) : new Float32Array(values), indices),
    targets: gatherTargets(dataset, indices),
    ...gatherExtras(dataset, dataset.length, indices),
  });
}

function subsetOnDisk(dataset: Dataset, source: SampleSource, indices: Int32Array): Dataset {
  return createDataset({
    ...dataset,
    source: { ...source, length: indices.length, read: (own) => source.read(own.map((index) => indices[index])) },
    targets: gatherTargets(dataset, indices),
    ...gatherExtras(dataset, dataset.length, indices),
  });
}

/** Values of a sample's targets. */
export function valuesPerTarget({ targets, targetShape, stream, length }: Dataset): number {
  if (targetShape !== undefined) return product(targetShape);
  return stream === undefined ? targets.length / length : 1;
}

/** @throws Error where the samples are on disk, or come as a stream */
export function requireInMemory({ name, source, stream }: Dataset): void {
  if (stream !== undefined) {
    throw new Error(
      `The samples of "${name}" come as a stream, and this needs access to each of them. Give them in memory, ` +
        'or on disk (createSourceDataset).',
    );
  }
  if (source === undefined) return;
  throw new Error(
    `The samples of "${name}" are on disk, and this needs them in memory. Read them with await ` +
      'loadDataset(dataset), or use only a part: subset.',
  );
}

/** Returns the first `count` samples, without copying them. */
export function take(dataset: Dataset, count: number): Dataset {
  if (!(Number.isInteger(count) && count >= 1 && count <= dataset.length)) {
    throw new RangeError(
      `Cannot take ${count} samples of "${dataset.name}": ask for a whole number from 1 to ${dataset.length}.`,
    );
  }
  if (dataset.source !== undefined)
    return subset(
      dataset,
      Int32Array.from({ length: count }, (_, i) => i),
    );
  requireInMemory(dataset);
  return createDataset({
    ...dataset,
    features: dataset.features.subarray(0, (count * dataset.features.length) / dataset.length),
    targets: dataset.targets.subarray(0, (count * dataset.targets.length) / dataset.length),
    ...sliceExtras(dataset, dataset.length, 0, count),
  });
}

/** Returns the same samples as vectors (`featureShape` becomes its product), without copying them. */
export function flattened(dataset: Dataset): Dataset {
  const featureShape = [product(dataset.featureShape)];
  return createDataset({ ...dataset, featureShape, source: dataset.source && { ...dataset.source, featureShape } });
}

function gatherFeatures(dataset: Dataset, indices: Int32Array, rows: Float32Array): Float32Array {
  const { features, normalization } = dataset;
  if (features instanceof Uint8Array) return gatherBytes(features, rows, indices, normalization);
  copyRows(features, rows, indices);
  if (normalization) normalizeInPlace(rows, normalization);
  return rows;
}

/** Uses a table of the 256 values of a byte for each channel, which saves the arithmetic per pixel. */
function gatherBytes(bytes: Uint8Array, rows: Float32Array, indices: Int32Array, normalization?: Normalization) {
  const { mean, std } = normalization ?? { mean: [0], std: [1] };
  const size = rows.length / indices.length;
  for (const [channel, center] of mean.entries()) {
    const levels = Float32Array.from({ length: 256 }, (_, byte) => (byte / 255 - center) / std[channel]);
    for (let row = 0; row < indices.length; row++) {
      const from = indices[row] * size;
      const to = row * size;
      for (let i = channel; i < size; i += mean.length) rows[to + i] = levels[bytes[from + i]];
    }
  }
  return rows;
}

function normalizeInPlace(values: Float32Array, { mean, std }: Normalization): void {
  for (const [channel, center] of mean.entries()) {
    const scale = std[channel];
    for (let i = channel; i < values.length; i += mean.length) values[i] = (values[i] - center) / scale;
  }
}

function gatherTargets({ targets, length }: Dataset, indices: Int32Array): Int32Array | Float32Array {
  const values = (indices.length * targets.length) / length;
  return copyRows(targets, targets instanceof Int32Array ? new Int32Array(values) : new Float32Array(values), indices);
}

/** Fills `rows` with one row of `source` per index. */
function copyRows<A extends Float32Array | Int32Array | Uint8Array>(source: A, rows: A, indices: Int32Array): A {
  const width = rows.length / indices.length;
  for (let row = 0; row < indices.length; row++) {
    const from = indices[row] * width;
    rows.set(source.subarray(from, from + width), row * width);
  }
  return rows;
}

function checkIndices(dataset: Dataset, indices: Int32Array): void {
  for (const index of indices) {
    if (index < 0 || index >= dataset.length) {
      throw new RangeError(`Sample ${index} of "${dataset.name}" does not exist: it has 0 to ${dataset.length - 1}.`);
    }
  }
}

function checkLabels(name: string, targets: Int32Array | Float32Array, classCount: number): void {
  const wrong = targets.findIndex((label) => !(Number.isInteger(label) && label >= 0 && label < classCount));
  if (wrong >= 0) {
    throw new Error(
      `Data set "${name}": sample ${wrong} has label ${targets[wrong]}; with ${classCount} classes, labels are whole ` +
        `numbers from 0 to ${classCount - 1}. Correct the label or the number of classes.`,
    );
  }
}

function checkNormalization(name: string, { mean, std }: Normalization, size: number): void {
  const fits = mean.length > 0 && mean.length === std.length && size % mean.length === 0;
  if (!fits || !mean.every(Number.isFinite) || !std.every((value) => Number.isFinite(value) && value > 0)) {
    throw new Error(
      `Data set "${name}": normalization by means [${mean.join(', ')}] and deviations [${std.join(', ')}] is not ` +
        `possible. Give one finite mean and one positive deviation per channel of its samples (${size} values each).`,
    );
  }
}

function product(shape: readonly number[]): number {
  return shape.reduce((size, dimension) => size * dimension, 1);
}

function isPositiveInteger(value: number): boolean {
  return Number.isInteger(value) && value > 0;
}
