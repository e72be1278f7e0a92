import { exceedsFloat32 } from '../../core/ensemble/arithmetic.ts';
import { furtherInputs, type Preprocessing, type TargetMeaning } from '../../core/preprocessing/schema.ts';
import { columnMoments, type Columns, type Moments, MomentsInParts } from './column-moments.ts';
import { createDataset, createSplits, mapEachSplit, requireInMemory } from './dataset.ts';
import type { Dataset, Normalization, Splits } from './dataset.ts';
import { noteData } from './notes.ts';
import { readChecked } from './streams/source-dataset.ts';

/** Undoes a standardization of T target columns: `value = mean + std * standardized`. */
export interface TargetScale {
  /** Shape `[T]`. */
  readonly mean: readonly number[];
  /** Shape `[T]`. */
  readonly std: readonly number[];
}

/** What `standardize` returns. */
export interface Standardized {
  /** The splits with a normalization, and with standardized targets if requested. */
  readonly splits: Splits;
  /** Converts standardized targets back to their unit; absent if targets were not standardized. */
  readonly targetScale?: TargetScale;
}

/**
 * Standardizes every feature column (every channel) of all splits with the mean and standard deviation of the
 * *training* split; with `targets`, the target columns too. Standard deviations divide by N; a constant column is only
 * centred. Features stay unchanged and carry the normalization, which batches apply.
 *
 * @throws Error that names column and row where a value of the training split is NaN or infinite
 */
export function standardize(splits: Splits, options: StandardizeOptions = {}): Standardized {
  const { train } = splits;
  requireInMemory(train);
  return applied(splits, columnMoments(columnsOf(train, train.features)), options);
}

/** What to standardize besides the features. */
export interface StandardizeOptions {
  /** Whether the target columns too. */
  targets?: boolean;
}

/**
 * Like {@link standardize}, for splits whose features are on disk: reads the training split once, a part at a time. The
 * moments differ from those in memory in their last digits at most.
 * @throws Error that names column and row where a value of the training split is NaN or infinite
 */
export async function standardizeOnDisk(splits: Splits, options: StandardizeOptions = {}): Promise<Standardized> {
  const { train } = splits;
  if (train.source === undefined) return standardize(splits, options);
  const { source, length } = train;
  const moments = new MomentsInParts();
  for (let first = 0; first < length; first += samplesAtOnce) {
    const indices = Int32Array.from({ length: Math.min(samplesAtOnce, length - first) }, (_, i) => first + i);
    moments.add(columnsOf(train, await readChecked(train.name, source, indices)));
  }
  return applied(splits, moments.moments, options);
}

/** Samples of one read. */
const samplesAtOnce = 256;

/** The columns of features are the channels. */
function columnsOf({ name, featureShape }: Dataset, values: Dataset['features']): Columns {
  return { name, kind: 'feature', values, count: featureShape.at(-1) ?? 1 };
}

function applied(splits: Splits, moments: Moments, options: StandardizeOptions): Standardized {
  const { train } = splits;
  const unit = train.features instanceof Uint8Array ? 255 : 1;
  const normalization = {
    mean: moments.mean.map((value) => value / unit),
    std: moments.std.map((value, column) => (moments.isConstant[column] ? 1 : value / unit)),
  };
  const targetScale = options.targets ? targetScaleOf(train) : undefined;
  const apply = (dataset: Dataset) =>
    createDataset({
      ...dataset,
      normalization,
      targets: targetScale ? scaled(dataset.targets, targetScale) : dataset.targets,
    });
  const preprocessing = withStep(splits, normalization, targetScale);
  return Object.freeze({ splits: createSplits({ ...mapEachSplit(splits, apply), preprocessing }), targetScale });
}

/**
 * What is applied to new samples: what was fitted, or else the normalization that a project gave; null if there is
 * neither, and no name of a feature.
 */
export function preprocessingOf({ preprocessing, train }: Splits): Preprocessing | null {
  const { normalization, featureNames, extraInputs = {} } = train;
  const { mean, std } = normalization ?? {};
  const steps = mean && std ? [{ kind: 'standardize' as const, mean: [...mean], std: [...std] }] : [];
  const fitted: Preprocessing = preprocessing ?? { format: 1, steps };
  const hasNames = featureNames !== undefined && !fitted.steps.some(({ kind }) => kind === 'table');
  if (preprocessing === undefined && steps.length === 0 && !hasNames) return null;
  const texts = furtherInputs(fitted);
  const further = Object.keys(extraInputs).filter((name) => !texts.includes(name));
  return {
    ...fitted,
    ...(hasNames && { featureNames: [...featureNames] }),
    ...(further.length > 0 && { extraInputs: further }),
  };
}

/** What was fitted before, and now this; scaled targets that are scaled again keep both scales. */
function withStep({ preprocessing }: Splits, { mean, std }: Normalization, scale?: TargetScale): Preprocessing {
  const { steps = [], target } = preprocessing ?? {};
  const step = { kind: 'standardize' as const, mean: [...mean], std: [...std] };
  return { format: 1, ...preprocessing, steps: [...steps, step], ...targetAfter(target, scale) };
}

function targetAfter(target: TargetMeaning | undefined, scale?: TargetScale): { target?: TargetMeaning } {
  if (scale === undefined || target?.kind === 'classes') return target === undefined ? {} : { target };
  const columns = target?.columns ?? scale.mean.map((_, column) => `target ${column + 1}`);
  const before = target ?? { mean: scale.mean.map(() => 0), std: scale.std.map(() => 1) };
  return {
    target: {
      kind: 'values',
      columns,
      mean: scale.mean.map((mean, i) => before.mean[i] + before.std[i] * mean),
      std: scale.std.map((std, i) => before.std[i] * std),
    },
  };
}

function targetScaleOf(train: Dataset): TargetScale {
  if (train.targets instanceof Int32Array) {
    throw new TypeError(
      `The targets of "${train.name}" are class labels, which have no mean: standardize its features only.`,
    );
  }
  const { name, targets: values, length } = train;
  const moments = columnMoments({ name, kind: 'target', values, count: values.length / length });
  const { mean, std } = moments;
  noteRounding(
    name,
    mean.map((_, column) => String(column + 1)),
    moments,
  );
  return Object.freeze({ mean, std });
}

/** Notes that targets lost digits when they became float32, before any standardization. */
export function noteRounding(name: string, columns: readonly string[], { mean, std, isConstant }: Moments): void {
  for (const [i, column] of columns.entries()) {
    const of = { kind: 'values' as const, columns: [column], mean: [mean[i]], std: [std[i]] };
    if (isConstant[i] || !exceedsFloat32(of)) continue;
    noteData(
      `The target "${column}" of "${name}" has the mean ${mean[i]} and the standard deviation ${std[i]}: as ` +
        `float32 it is rounded to steps of about ${2 ** (Math.floor(Math.log2(Math.abs(mean[i]))) - 23)}. Subtract ` +
        'the mean before, or read a table with tableSplits(table, { standardizeTargets: true }).',
    );
  }
}

function scaled(targets: Dataset['targets'], { mean, std }: TargetScale): Float32Array {
  return Float32Array.from(targets, (value, i) => (value - mean[i % mean.length]) / std[i % mean.length]);
}
