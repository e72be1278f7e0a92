import { describe, expect, it } from 'vitest';
import { augmentImages } from '../../../workers/data/augment.ts';
import type { Batch } from '../../../workers/data/dataset.ts';
import { Generator } from '../../../workers/random/index.ts';

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

describe('augmentImages', () => {
  it('crops each image randomly out of its padded version, equally in all channels', () => {
    const cropped = augmentImages(images(300), { cropPadding: 1, horizontalFlip: false }, new Generator(1, 'augment'));
    const seen = new Set(pixels(cropped).map((image) => image.join()));
    expect([...seen].sort()).toEqual(crops.map((crop) => crop.join()).sort());
    expect(cropped.features.filter((_, i) => i % 2 === 1)).toEqual(
      cropped.features.filter((_, i) => i % 2 === 0).map((value) => 0 - value),
    );
  });

  it('mirrors about half of the images', () => {
    const flipped = augmentImages(images(300), { cropPadding: 0, horizontalFlip: true }, new Generator(1, 'augment'));
    const counts = Map.groupBy(pixels(flipped), (image) => image.join());
    expect([...counts.keys()].sort()).toEqual(['1,2,3,4,5,6,7,8,9', '3,2,1,6,5,4,9,8,7']);
    expect(counts.get('3,2,1,6,5,4,9,8,7')?.length).toBeGreaterThan(120);
    expect(counts.get('1,2,3,4,5,6,7,8,9')?.length).toBeGreaterThan(120);
  });

  it('depends only on the generator, and does not change its input', () => {
    const batch = images(20);
    const augmented = (seed: number) =>
      augmentImages(batch, { cropPadding: 2, horizontalFlip: true }, new Generator(seed, 'augment')).features;
    expect(augmented(1)).toEqual(augmented(1));
    expect(augmented(1)).not.toEqual(augmented(2));
    expect(batch).toEqual(images(20));
  });

  it('refuses samples that are not images', () => {
    const vectors = { ...images(1), featureShape: [1, 18] };
    expect(() => augmentImages(vectors, { cropPadding: 1, horizontalFlip: false }, new Generator(1, 'a'))).toThrow(
      'Crops and flips are for images of shape [height, width, channels]; samples here have [18]. Turn both off.',
    );
  });
});
