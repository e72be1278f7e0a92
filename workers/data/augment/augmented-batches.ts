import { Generator } from '../../../core/random/generator.ts';
import type { BatchSource } from '../batches.ts';
import type { Batch, Normalization } from '../dataset.ts';
import { augmentImages, type Augmentation, changesImages } from './augment.ts';
import { mixBatch } from './mixing.ts';

/** How a rank's batches are augmented. */
export interface AugmentPlan {
  augmentation: Augmentation;
  normalization?: Normalization;
  /** Decides the changes of single images. */
  seed: number;
  /** Decides which samples are mixed, and how; the same on all ranks where these must have the same targets. */
  mixingSeed: number;
}

/** A rank's batches with changes that depend only on seeds and step: a resume needs no state. */
export function augmentedBatches(source: BatchSource, plan: AugmentPlan): BatchSource {
  const augment = augmenter(plan);
  if (augment === null) return source;
  return {
    length: source.length,
    isLockstep: source.isLockstep,
    follow: (sampler) => source.follow?.(sampler),
    async batch(indices, at) {
      return augment(await source.batch(indices, at), at.step);
    },
  };
}

/** Null where nothing changes. The result's features are valid until the second call after this one. */
function augmenter({ augmentation, normalization, seed, mixingSeed }: AugmentPlan) {
  const changes = changesImages(augmentation);
  const mixes = augmentation.mixup > 0 || augmentation.cutmix > 0;
  if (!changes && !mixes) return null;
  const room = turns();
  return (batch: Batch, step: number): Batch => {
    if (batch.features.length === 0) return batch;
    const generator = new Generator(seed, `augment/labelled-${step}`);
    const changed = changes
      ? augmentImages(batch, augmentation, { generator, normalization, target: room(batch.features.length) })
      : batch;
    if (!mixes) return changed;
    const mixing = new Generator(mixingSeed, `mix/step-${step}`);
    return mixBatch(changed, augmentation, { generator: mixing, target: room(batch.features.length) });
  };
}

/** Arrays that take turns, because new large arrays in every step would keep the garbage collector busy. */
function turns(): (length: number) => Float32Array {
  const arrays = [0, 1, 2, 3].map(() => new Float32Array(0));
  let next = 0;
  return (length) => {
    next = (next + 1) % arrays.length;
    if (arrays[next].length < length) arrays[next] = new Float32Array(length);
    return arrays[next];
  };
}
