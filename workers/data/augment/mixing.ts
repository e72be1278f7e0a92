import type { Generator } from '../../../core/random/generator.ts';
import type { Batch } from '../dataset.ts';
import { gatherExtras, gatherRows } from '../fields.ts';
import { type ImageSize, paste, rectangleAround } from './geometry.ts';

/**
 * Mixes each sample of a batch with another one, by the same share λ for the whole batch: λ·x + (1 − λ)·x′ (Zhang et al., 2018, "mixup"), or a
 * rectangle of x′ in x, whose area gives 1 − λ (Yun et al., 2019, "CutMix"). λ ~ Beta(α, α). With both, half of the batches have either. The
 * batch keeps both samples' targets, and its loss is λ·loss + (1 − λ)·loss′.
 */
export function mixBatch(
  batch: Batch,
  { mixup, cutmix }: { mixup: number; cutmix: number },
  { generator, target }: { generator: Generator; target: Float32Array },
): Batch {
  const isCut = cutmix > 0 && (mixup === 0 || generator.integer(2) === 1);
  const [count] = batch.featureShape;
  const partners = generator.permutation(count);
  const drawn = drawBeta(isCut ? cutmix : mixup, generator);
  const features = target.subarray(0, batch.features.length);
  const share = isCut ? cut(batch, partners, drawn, { generator, features }) : mix(batch, partners, drawn, features);
  return { ...batch, features, mixed: { share, partner: partnerOf(batch, partners) } };
}

function mix({ features, featureShape }: Batch, partners: Int32Array, share: number, target: Float32Array): number {
  const size = features.length / featureShape[0];
  partners.forEach((partner, sample) => {
    for (let i = 0; i < size; i++) {
      target[sample * size + i] = share * features[sample * size + i] + (1 - share) * features[partner * size + i];
    }
  });
  return share;
}

function cut(
  { features, featureShape: [, height, width, channels] }: Batch,
  partners: Int32Array,
  drawn: number,
  { generator, features: target }: { generator: Generator; features: Float32Array },
): number {
  const image: ImageSize = [height, width, channels];
  const side = Math.sqrt(1 - drawn);
  const centre = [generator.integer(height), generator.integer(width)] as const;
  const at = rectangleAround(centre, [Math.floor(height * side), Math.floor(width * side)], image);
  const size = height * width * channels;
  target.set(features);
  partners.forEach((partner, sample) => {
    const from = features.subarray(partner * size, (partner + 1) * size);
    paste(target.subarray(sample * size, (sample + 1) * size), image, at, from);
  });
  return 1 - ((at.bottom - at.top) * (at.right - at.left)) / (height * width);
}

/** The partners' targets, and what belongs to them; inputs by name stay those of the samples themselves. */
function partnerOf({ targets, featureShape: [count], extraTargets, weights, mask }: Batch, partners: Int32Array) {
  return {
    targets: gatherRows(targets, count, partners),
    ...gatherExtras({ extraTargets, weights, mask }, count, partners),
  };
}

/** Draws from Beta(α, α) by Jöhnk's method: U^(1/α) / (U^(1/α) + V^(1/α)), where the sum is at most 1. */
export function drawBeta(alpha: number, generator: Generator): number {
  for (;;) {
    const first = generator.uniform() ** (1 / alpha);
    const second = generator.uniform() ** (1 / alpha);
    const sum = first + second;
    if (sum > 0 && sum <= 1) return first / sum;
  }
}
