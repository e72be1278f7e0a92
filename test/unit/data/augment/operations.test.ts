import { describe, expect, it } from 'vitest';
import {
  autoContrast,
  brightness,
  contrast,
  drawOperations,
  equalize,
  posterize,
  saturation,
  sharpness,
  solarize,
} from '../../../../workers/data/augment/augment.ts';
import { rectangleAround, rotation, warp } from '../../../../workers/data/augment/geometry.ts';
import { readGolden } from '../../../golden/read-golden.ts';
import { Generator } from '../../../../workers/random/index.ts';

/** The result of a change of `values`, to five digits. */
function changed(values: number[], change: (image: Float32Array) => void): number[] {
  const image = Float32Array.from(values);
  change(image);
  return Array.from(image, (value) => Number(value.toFixed(5)));
}

describe('colours', () => {
  it('multiplies and cuts off', () => {
    expect(changed([0.2, 0.5, 0.8], (image) => brightness(image, 1.5))).toEqual([0.3, 0.75, 1]);
  });

  it('moves values from the mean grey value', () => {
    // The mean of 0.2 and 0.6 is 0.4.
    expect(changed([0.2, 0.6], (image) => contrast(image, 1, 0.5))).toEqual([0.3, 0.5]);
    // Red and blue are 0.299 and 0.114 in grey, their mean 0.2065.
    expect(changed([1, 0, 0, 0, 0, 1], (image) => contrast(image, 3, 0))).toEqual(
      Array.from({ length: 6 }, () => 0.2065),
    );
  });

  it('moves values from the grey value of their pixel', () => {
    expect(changed([1, 0, 0], (image) => saturation(image, 3, 0))).toEqual([0.299, 0.299, 0.299]);
    // 0.5 · (0, 1, 0) + 0.5 · 0.587
    expect(changed([0, 1, 0], (image) => saturation(image, 3, 0.5))).toEqual([0.2935, 0.7935, 0.2935]);
    expect(changed([0.3], (image) => saturation(image, 1, 0))).toEqual([0.3]);
  });

  it('inverts from a threshold on', () => {
    expect(changed([0.2, 0.5, 0.75], (image) => solarize(image, 0.5))).toEqual([0.2, 0.5, 0.25]);
  });

  it('keeps the upper bits of bytes', () => {
    // 200 = 0b11001000 → 0b11000000 = 192; 63 → 0; 64 → 64.
    const bytes = [200, 63, 64, 255].map((byte) => byte / 255);
    const kept = changed(bytes, (image) => posterize(image, 2)).map((value) => Math.round(value * 255));
    expect(kept).toEqual([192, 0, 64, 192]);
    expect(changed(bytes, (image) => posterize(image, 8)).map((value) => Math.round(value * 255))).toEqual([
      200, 63, 64, 255,
    ]);
  });

  it('stretches each channel to [0, 1]', () => {
    expect(changed([0.2, 0.5, 0.4, 0.5, 0.6, 0.5], (image) => autoContrast(image, 2))).toEqual([
      0, 0.5, 0.5, 0.5, 1, 0.5,
    ]);
  });
});

interface Golden {
  cases: {
    name: string;
    size: [number, number, number];
    bytes: number[];
    equalized: number[];
    factor: number;
    sharpened: number[];
    sharpenedBytes: number[];
  }[];
}

describe.each((readGolden('augment/operations.json') as Golden).cases)('as in Pillow: $name', (golden) => {
  const { size, bytes, factor } = golden;
  const image = () => Float32Array.from(bytes, (byte) => byte / 255);

  it('equalizes', () => {
    const equalized = image();
    equalize(equalized, size[2]);
    expect(Array.from(equalized, (value) => Math.round(value * 255))).toEqual(golden.equalized);
  });

  it('sharpens and smooths', () => {
    const sharpened = image();
    sharpness(sharpened, size, factor);
    sharpened.forEach((value, i) => {
      expect(value).toBeCloseTo(golden.sharpened[i], 6);
      // Pillow rounds twice.
      expect(Math.abs(value * 255 - golden.sharpenedBytes[i])).toBeLessThan(2);
    });
  });
});

describe('places', () => {
  const image = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  const warped = (map: Parameters<typeof warp>[3]) => {
    const target = new Float32Array(9);
    warp(Float32Array.from(image), target, [3, 3, 1], map);
    return Array.from(target, (value) => Number(value.toFixed(4)));
  };

  it('turns counterclockwise by a right angle', () => {
    expect(warped(rotation(90))).toEqual([3, 6, 9, 2, 5, 8, 1, 4, 7]);
    expect(warped(rotation(0))).toEqual(image);
  });

  it('interpolates between pixels, and has zeros outside', () => {
    // Half a pixel to the right: (1 + 2) / 2, (2 + 3) / 2, (3 + 0) / 2.
    expect(warped([1, 0, 0.5, 0, 1, 0])).toEqual([1.5, 2.5, 1.5, 4.5, 5.5, 3, 7.5, 8.5, 4.5]);
    expect(warped([1, 0, 1, 0, 1, 0])).toEqual([2, 3, 0, 5, 6, 0, 8, 9, 0]);
  });

  it('cuts rectangles off at the borders', () => {
    expect(rectangleAround([0, 2], [2, 4], [3, 3, 1])).toEqual({ top: 0, bottom: 1, left: 0, right: 3 });
    expect(rectangleAround([1, 1], [1, 1], [3, 3, 1])).toEqual({ top: 1, bottom: 2, left: 1, right: 2 });
  });
});

describe('RandAugment', () => {
  it('draws the asked number of operations, of which one in fourteen does nothing', () => {
    const generator = new Generator(1, 'rand-augment');
    const about = { randAugment: 3, magnitude: 9 };
    const counts = Array.from({ length: 400 }, () => drawOperations(about, [32, 32, 3], generator).length);
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    expect(Math.max(...counts)).toBe(3);
    expect(mean).toBeGreaterThan(2.6);
    expect(mean).toBeLessThan(2.9);
    expect(drawOperations({ ...about, randAugment: 0 }, [32, 32, 3], generator)).toEqual([]);
  });

  it('leaves an image as it is at magnitude 0, but for auto-contrast and equalize', () => {
    const generator = new Generator(2, 'rand-augment');
    const values = [0, 51, 102, 153, 204, 255].map((byte) => byte / 255);
    const operations = drawOperations({ randAugment: 20, magnitude: 0 }, [2, 3, 1], generator);
    const results = operations.map((operation) => {
      const image = Float32Array.from(values);
      if (operation.kind === 'colour') operation.change(image, [2, 3, 1]);
      else warp(Float32Array.from(values), image, [2, 3, 1], operation.map);
      // Solarize with a threshold of 1 inverts what is 1.
      return Array.from(image.subarray(0, 5), (value) => Math.round(value * 255));
    });
    expect(new Set(results.map(String))).toEqual(new Set(['0,51,102,153,204']));
  });
});
