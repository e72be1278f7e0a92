import { createDataset, createSplits } from './dataset.ts';
import type { Dataset, Splits } from './dataset.ts';

/** Undoes a standardization of targets: `value = mean + std * standardized`, column by column, shape [T]. */
export interface TargetScale {
  readonly mean: readonly number[];
  readonly std: readonly number[];
}

export interface Standardized {
  readonly splits: Splits;
  /** Where targets were standardized: how to get back to their unit. */
  readonly targetScale?: TargetScale;
}

/**
 * Gives every feature column (every channel) of all splits the mean 0 and the standard deviation 1 that it has over the
 * *training* split; with `targets`, the target columns too. Standard deviations divide by N; a constant column is only
 * centred. Features stay as they are and carry the normalization, which batches apply.
 */
export function standardize(splits: Splits, options: { targets?: boolean } = {}): Standardized {
  const { train } = splits;
  const unit = train.features instanceof Uint8Array ? 255 : 1;
  const moments = columnMoments(train.features, train.featureShape.at(-1) ?? 1);
  const normalization = {
    mean: moments.mean.map((value) => value / unit),
    std: moments.std.map((value) => value / unit),
  };
  const targetScale = options.targets ? targetScaleOf(train) : undefined;
  const apply = (dataset: Dataset) =>
    createDataset({
      ...dataset,
      normalization,
      targets: targetScale ? scaled(dataset.targets, targetScale) : dataset.targets,
    });
  return Object.freeze({
    splits: createSplits({
      train: apply(train),
      validation: splits.validation && apply(splits.validation),
      test: splits.test && apply(splits.test),
    }),
    targetScale,
  });
}

function targetScaleOf(train: Dataset): TargetScale {
  if (train.targets instanceof Int32Array) {
    throw new TypeError(
      `The targets of "${train.name}" are class labels, which have no mean: standardize its features only.`,
    );
  }
  return Object.freeze(columnMoments(train.targets, train.targets.length / train.length));
}

function scaled(targets: Dataset['targets'], { mean, std }: TargetScale): Float32Array {
  return Float32Array.from(targets, (value, i) => (value - mean[i % mean.length]) / std[i % mean.length]);
}

/** Means, then deviations from them: one pass over squares would cancel for columns far from 0. */
function columnMoments(values: ArrayLike<number>, columns: number): { mean: number[]; std: number[] } {
  const rows = values.length / columns;
  const mean = Array.from({ length: columns }, () => 0);
  for (let i = 0; i < values.length; i++) mean[i % columns] += values[i] / rows;
  const variance = Array.from({ length: columns }, () => 0);
  for (let i = 0; i < values.length; i++) variance[i % columns] += (values[i] - mean[i % columns]) ** 2 / rows;
  return { mean, std: variance.map((value) => (value > 0 ? Math.sqrt(value) : 1)) };
}
