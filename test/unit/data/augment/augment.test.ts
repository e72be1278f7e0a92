import { describe, expect, it } from 'vitest';
import { augmentationSchema } from '../../../../core/protocol/run/data-config.ts';
import { augmentImages, requireAugmentable } from '../../../../workers/data/augment/augment.ts';
import { augmentedBatches } from '../../../../workers/data/augment/augmented-batches.ts';
import { ownBatches } from '../../../../workers/data/batches.ts';
import { type Batch, createDataset } from '../../../../workers/data/dataset.ts';
import { Generator } from '../../../../workers/random/index.ts';

/** Images of 3 x 3 pixels with two channels. Pixel i has the values i + 1 and −(i + 1). */
function images(count: number): Batch {
  const image = Array.from({ length: 9 }, (_, i) => [i + 1, -(i + 1)]).flat();
  return {
    features: Float32Array.from({ length: count * 18 }, (_, i) => image[i % 18]),
    featureShape: [count, 3, 3, 2],
    targets: new Int32Array(count),
    targetShape: [count],
  };
}

/** First channel of each image. */
const pixels = ({ features }: Batch): number[][] =>
  Array.from({ length: features.length / 18 }, (_, image) =>
    Array.from({ length: 9 }, (_, pixel) => features[image * 18 + pixel * 2]),
  );

/** All 3 x 3 crops of the image with a border of one zero. */
const crops = [-1, 0, 1].flatMap((top) =>
  [-1, 0, 1].map((left) =>
    Array.from({ length: 9 }, (_, i) => {
      const [row, column] = [Math.floor(i / 3) + top, (i % 3) + left];
      return row < 0 || row > 2 || column < 0 || column > 2 ? 0 : row * 3 + column + 1;
    }),
  ),
);

function augmented(batch: Batch, options: Parameters<typeof augmentationSchema.parse>[0], seed = 1): Batch {
  const target = new Float32Array(batch.features.length);
  return augmentImages(batch, augmentationSchema.parse(options), { generator: new Generator(seed, 'augment'), target });
}

describe('augmentImages', () => {
  it('crops each image randomly out of its padded version, equally in all channels', () => {
    const cropped = augmented(images(300), { cropPadding: 1 });
    const seen = new Set(pixels(cropped).map((image) => image.join()));
    expect([...seen].sort()).toEqual(crops.map((crop) => crop.join()).sort());
    expect(cropped.features.filter((_, i) => i % 2 === 1)).toEqual(
      cropped.features.filter((_, i) => i % 2 === 0).map((value) => 0 - value),
    );
  });

  it('mirrors about half of the images', () => {
    const counts = Map.groupBy(pixels(augmented(images(300), { horizontalFlip: true })), (image) => image.join());
    expect([...counts.keys()].sort()).toEqual(['1,2,3,4,5,6,7,8,9', '3,2,1,6,5,4,9,8,7']);
    expect(counts.get('3,2,1,6,5,4,9,8,7')?.length).toBeGreaterThan(120);
    expect(counts.get('1,2,3,4,5,6,7,8,9')?.length).toBeGreaterThan(120);
    const flipped = new Set(pixels(augmented(images(50), { verticalFlip: true })).map((image) => image.join()));
    expect([...flipped].sort()).toEqual(['1,2,3,4,5,6,7,8,9', '7,8,9,4,5,6,1,2,3']);
  });

  it('blanks a square of cutout, cut off at the borders', () => {
    for (const image of pixels(augmented(images(100), { cutout: 2 }))) {
      const blank = image.flatMap((value, i) => (value === 0 ? [i] : []));
      // The square's top left is (centre − 1), so it covers 1, 2 or 4 pixels of the image.
      expect([1, 2, 4]).toContain(blank.length);
      expect(image.filter((value, i) => value !== 0 && value !== i + 1)).toEqual([]);
    }
  });

  it('turns by at most the given angle, and keeps the centre', () => {
    const turned = pixels(augmented(images(50), { rotation: 20 }));
    expect(turned.every((image) => Math.abs(image[4] - 5) < 1e-6)).toBe(true);
    expect(new Set(turned.map((image) => image[1])).size).toBeGreaterThan(40);
  });

  it('changes the colours of pixels, whatever their normalization', () => {
    const raw = Float32Array.of(0.1, 0.2, 0.3, 0.6, 0.5, 0.4);
    const normalization = { mean: [0.4, 0.5, 0.6], std: [0.2, 0.25, 0.5] };
    const { mean, std } = normalization;
    const batch = { ...images(1), features: raw.map((v, i) => (v - mean[i % 3]) / std[i % 3]) };
    const brighter = augmentImages(
      { ...batch, featureShape: [1, 1, 2, 3] },
      augmentationSchema.parse({ brightness: 0.4 }),
      {
        generator: new Generator(5, 'augment'),
        normalization,
        target: new Float32Array(6),
      },
    );
    const factors = [...brighter.features].map((v, i) => (v * std[i % 3] + mean[i % 3]) / raw[i]);
    expect(Math.abs(factors[0] - 1)).toBeGreaterThan(0.01);
    expect(Math.abs(factors[0] - 1)).toBeLessThan(0.4);
    for (const factor of factors) expect(factor).toBeCloseTo(factors[0], 5);
  });

  it('depends only on the generator, and does not change its input', () => {
    const batch = images(20);
    const features = (seed: number) => augmented(batch, { cropPadding: 2, horizontalFlip: true }, seed).features;
    expect(features(1)).toEqual(features(1));
    expect(features(1)).not.toEqual(features(2));
    expect(batch).toEqual(images(20));
  });
});

/** Four images of 2 × 2 bytes with three channels. */
const photos = createDataset({
  name: 'photos',
  featureShape: [2, 2, 3],
  features: Uint8Array.from({ length: 48 }, (_, i) => 5 * i),
  targets: Int32Array.of(0, 1, 0, 1),
  classCount: 2,
  normalization: { mean: [0.4, 0.5, 0.6], std: [0.2, 0.25, 0.5] },
});

describe('augmentedBatches', () => {
  const all = augmentationSchema.parse({
    cropPadding: 1,
    horizontalFlip: true,
    verticalFlip: true,
    rotation: 10,
    brightness: 0.4,
    contrast: 0.4,
    saturation: 0.4,
    cutout: 1,
    mixup: 0.4,
    cutmix: 1,
    randAugment: 2,
  });
  const open = (seed: number, mixingSeed = seed) =>
    augmentedBatches(ownBatches(photos), { augmentation: all, normalization: photos.normalization, seed, mixingSeed });
  const indices = Int32Array.of(3, 1, 0, 2);
  const copy = ({ features, mixed }: Batch) => ({ features: features.slice(), mixed });
  const at = (step: number) => ({ epoch: 0, batch: step, step });

  it('gives each step of each rank changes of its own, and the same ones after a resume', async () => {
    const steps: unknown[] = [];
    const first = open(1);
    for (let step = 0; step < 6; step++) steps.push(copy(await first.batch(indices, at(step))));
    const resumed = open(1);
    for (let step = 4; step < 6; step++) expect(copy(await resumed.batch(indices, at(step)))).toEqual(steps[step]);
    expect(steps[0]).not.toEqual(steps[1]);
    expect(copy(await open(2).batch(indices, at(0)))).not.toEqual(steps[0]);
  });

  it('mixes alike on ranks with a common seed for mixing', async () => {
    const mixed = await Promise.all([1, 2].map(async (seed) => (await open(seed, 7).batch(indices, at(3))).mixed));
    expect(mixed[0]).toEqual(mixed[1]);
    expect(mixed[0]?.partner.targets).toHaveLength(4);
  });

  it('keeps the batches of a source that is not augmented', () => {
    const source = ownBatches(photos);
    const plan = { augmentation: augmentationSchema.parse({}), seed: 1, mixingSeed: 1 };
    expect(augmentedBatches(source, plan)).toBe(source);
  });
});

describe('requireAugmentable', () => {
  const vectors = createDataset({
    name: 'rows',
    featureShape: [3],
    features: new Float32Array(6),
    targets: new Int32Array(2),
  });

  it('refuses to change samples that are not images, but mixes them', () => {
    expect(() => requireAugmentable(vectors, augmentationSchema.parse({ rotation: 5 }))).toThrow(
      'Augmentation is for images of shape [height, width, channels]; samples of "rows" have [3]. Turn the ' +
        'options of augmentation off, or give images.',
    );
    expect(() => requireAugmentable(vectors, augmentationSchema.parse({ cutmix: 1 }))).toThrow('is for images');
    requireAugmentable(vectors, augmentationSchema.parse({ mixup: 1 }));
  });

  it('changes colours only of bytes with one or three channels', () => {
    const floats = createDataset({ ...photos, features: new Float32Array(48) });
    requireAugmentable(photos, augmentationSchema.parse({ contrast: 0.1 }));
    expect(() => requireAugmentable(floats, augmentationSchema.parse({ contrast: 0.1 }))).toThrow(
      '"photos" has 3 channel(s) of floats',
    );
  });
});
