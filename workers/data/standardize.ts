import { columnMoments } from './column-moments.ts';
import { createDataset, createSplits, mapEachSplit } from './dataset.ts';
import type { Dataset, Splits } from './dataset.ts';

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
  return Object.freeze({ splits: createSplits(mapEachSplit(splits, apply)), targetScale });
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
