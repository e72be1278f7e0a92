import type { Generator } from '../../../core/random/generator.ts';
import type { Batch } from '../dataset.ts';
import { type Field, type Fields, gatherExtras, gatherRows } from '../fields.ts';
import { paste, type Rectangle, rectangleAround } from './geometry.ts';

/**
 * Mixes each sample of a batch with another one, by the same share λ for the whole batch: λ·x + (1 − λ)·x′ (Zhang et
 * al., 2018, "mixup"), or a rectangle of x′ in x, whose area gives 1 − λ (Yun et al., 2019, "CutMix"). λ ~ Beta(α, α).
 * With both, half of the batches have either. The batch keeps both samples' targets, and its loss is λ·loss + (1 −
 * λ)·loss′. Further inputs are mixed too: with CutMix, images of the same height and width get the same rectangle, all
 * others are weighed.
 */
export function mixBatch(
  batch: Batch,
  { mixup, cutmix }: { mixup: number; cutmix: number },
  { generator, target }: { generator: Generator; target: Float32Array },
): Batch {
  const isCut = cutmix > 0 && (mixup === 0 || generator.integer(2) === 1);
  const [count, ...shape] = batch.featureShape;
  const partners = generator.permutation(count);
  const drawn = drawBeta(isCut ? cutmix : mixup, generator);
  const rectangle = isCut ? drawRectangle(shape, drawn, generator) : null;
  const how = { share: rectangle?.share ?? drawn, rectangle };
  const into = target.subarray(0, batch.features.length);
  const features = mixed({ shape, values: batch.features }, partners, how, into);
  const { extraInputs } = batch;
  const others = Object.entries(extraInputs ?? {}).map(([name, field]) => [name, mixedField(field, partners, how)]);
  return {
    ...batch,
    features,
    ...(extraInputs && { extraInputs: Object.fromEntries(others) as Fields }),
    mixed: { share: how.share, partner: partnerOf(batch, partners) },
  };
}

/** How two samples become one. */
interface Mixture {
  share: number;
  /** Which pixels of an image are the partner's; null: all are weighed. */
  rectangle: { height: number; width: number; at: Rectangle } | null;
}

function drawRectangle([height, width, channels]: number[], drawn: number, generator: Generator) {
  const side = Math.sqrt(1 - drawn);
  const centre = [generator.integer(height), generator.integer(width)] as const;
  const sides = [Math.floor(height * side), Math.floor(width * side)] as const;
  const at = rectangleAround(centre, sides, [height, width, channels]);
  return { height, width, at, share: 1 - ((at.bottom - at.top) * (at.right - at.left)) / (height * width) };
}

function mixedField({ shape, values }: Field, partners: Int32Array, how: Mixture): Field {
  if (!(values instanceof Float32Array)) throw new TypeError('Whole numbers cannot be mixed.');
  return { shape, values: mixed({ shape, values }, partners, how, new Float32Array(values.length)) };
}

/** Writes each sample of `values` mixed with its partner to `target`. */
function mixed(
  { shape, values }: { shape: readonly number[]; values: Float32Array },
  partners: Int32Array,
  { share, rectangle }: Mixture,
  target: Float32Array,
): Float32Array {
  const size = values.length / partners.length;
  const [height, width, channels] = shape;
  if (rectangle !== null && shape.length === 3 && height === rectangle.height && width === rectangle.width) {
    target.set(values);
    partners.forEach((partner, sample) => {
      const from = values.subarray(partner * size, (partner + 1) * size);
      paste(target.subarray(sample * size, (sample + 1) * size), [height, width, channels], rectangle.at, from);
    });
    return target;
  }
  partners.forEach((partner, sample) => {
    for (let i = 0; i < size; i++) {
      target[sample * size + i] = share * values[sample * size + i] + (1 - share) * values[partner * size + i];
    }
  });
  return target;
}

/** The partners' targets, and what belongs to them. */
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
