import type { Preprocessing, TargetMeaning } from '../../core/preprocessing/schema.ts';
import { columnMoments } from './column-moments.ts';
import { createDataset, createSplits, mapEachSplit, requireInMemory } from './dataset.ts';
import type { Dataset, Normalization, Splits } from './dataset.ts';

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
 * Standardizes every feature column (every channel) of all splits with the mean and standard deviation of the *training* split;
 * with `targets`, the target columns too. Standard deviations divide by N; a constant column is only centred. Features
 * stay unchanged and carry the normalization, which batches apply.
 *
 * @throws Error that names column and row where a value of the training split is NaN or infinite
 */
export function standardize(splits: Splits, options: { targets?: boolean } = {}): Standardized {
  const { train } = splits;
  requireInMemory(train);
  const unit = train.features instanceof Uint8Array ? 255 : 1;
  const { name, features: values, featureShape } = train;
  const moments = columnMoments({ name, kind: 'feature', values, count: featureShape.at(-1) ?? 1 });
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

/** What was fitted before, and now this; scaled targets that are scaled again keep both scales. */
function withStep({ preprocessing }: Splits, { mean, std }: Normalization, scale?: TargetScale): Preprocessing {
  const { steps = [], target } = preprocessing ?? {};
  const step = { kind: 'standardize' as const, mean: [...mean], std: [...std] };
  return { format: 1, steps: [...steps, step], ...targetAfter(target, scale) };
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
  const { mean, std } = columnMoments({ name, kind: 'target', values, count: values.length / length });
  return Object.freeze({ mean, std });
}

function scaled(targets: Dataset['targets'], { mean, std }: TargetScale): Float32Array {
  return Float32Array.from(targets, (value, i) => (value - mean[i % mean.length]) / std[i % mean.length]);
}
