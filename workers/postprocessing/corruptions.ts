import { Generator } from '../../core/random/generator.ts';
import { createDataset, type Dataset, requireInMemory } from '../data/dataset.ts';

export const corruptions = ['gaussian-noise', 'gaussian-blur', 'contrast'] as const;
export type Corruption = (typeof corruptions)[number];

/** Strengths 1 to 5. */
export const strengths = [1, 2, 3, 4, 5] as const;

/**
 * Amounts for each strength: the noise's standard deviation and the contrast's factor are those of ImageNet-C, for
 * pixels from 0 to 1. The blur's standard deviation is a share of the shorter side, as 1, 2, 3, 4, 6 pixels of 64.
 */
const amounts: Record<Corruption, readonly number[]> = {
  'gaussian-noise': [0.08, 0.12, 0.18, 0.26, 0.38],
  'gaussian-blur': [1 / 64, 2 / 64, 3 / 64, 4 / 64, 6 / 64],
  contrast: [0.4, 0.3, 0.2, 0.1, 0.05],
};

/** Whether samples have the shape of images, `[H, W, C]` with 1, 3 or 4 channels. */
export function areImages({ featureShape }: Dataset): boolean {
  return featureShape.length === 3 && [1, 3, 4].includes(featureShape[2]) && Math.min(...featureShape.slice(0, 2)) >= 4;
}

/**
 * A copy of images with a corruption: noise added to each value, a blur with the edge's pixels repeated, or a contrast
 * lowered towards each channel's mean. Values are scaled by the range of the data set's (0 to 255 for bytes) and cut to
 * that range.
 *
 * Source: Hendrycks and Dietterich, "Benchmarking neural network robustness to common corruptions and perturbations",
 * ICLR 2019.
 *
 * @param dataset in memory, samples `[H, W, C]`
 * @param seed of the noise
 */
export function corrupted(dataset: Dataset, corruption: Corruption, strength: number, seed: number): Dataset {
  requireInMemory(dataset);
  const amount = amounts[corruption][strength - 1];
  const { values, low, range } = scaled(dataset.features);
  const size = values.length / dataset.length;
  const generator = new Generator(seed, `corruption/${corruption}/${strength}`);
  for (let sample = 0; sample < dataset.length; sample++) {
    const image = values.subarray(sample * size, (sample + 1) * size);
    corrupt(image, dataset.featureShape, corruption, amount, generator);
  }
  const features = values.map((value) => low + range * Math.min(1, Math.max(0, value)));
  return createDataset({ ...dataset, name: `${corruption} ${strength}`, features });
}

/** Values from 0 to 1. Bytes become floats, as batches would make them. */
function scaled(features: Float32Array | Uint8Array) {
  if (features instanceof Uint8Array)
    return { values: Float32Array.from(features, (byte) => byte / 255), low: 0, range: 1 };
  let [low, high] = [Infinity, -Infinity];
  for (const value of features) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const range = high > low ? high - low : 1;
  return { values: features.map((value) => (value - low) / range), low, range };
}

function corrupt(
  image: Float32Array,
  shape: readonly number[],
  corruption: Corruption,
  amount: number,
  generator: Generator,
): void {
  if (corruption === 'gaussian-noise') {
    for (let index = 0; index < image.length; index++) image[index] += amount * generator.normal();
  } else if (corruption === 'contrast') {
    lowerContrast(image, shape[2], amount);
  } else {
    const kernel = gaussianKernel(amount * Math.min(shape[0], shape[1]));
    const [height, width, channels] = shape;
    blurAxis(image, kernel, width, channels, height * width * channels);
    blurAxis(image, kernel, height, width * channels, height * width * channels);
  }
}

function lowerContrast(image: Float32Array, channels: number, factor: number): void {
  const means = new Float64Array(channels);
  image.forEach((value, index) => (means[index % channels] += (value * channels) / image.length));
  for (let index = 0; index < image.length; index++) {
    const mean = means[index % channels];
    image[index] = mean + factor * (image[index] - mean);
  }
}

/** Weights at −r to r for r = ⌈3 σ⌉, whose sum is 1. */
function gaussianKernel(deviation: number): Float64Array {
  const radius = Math.max(1, Math.ceil(3 * deviation));
  const weights = Float64Array.from({ length: 2 * radius + 1 }, (_, index) =>
    Math.exp(-((index - radius) ** 2) / (2 * deviation ** 2)),
  );
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/**
 * Convolves along an axis of `length` entries that lie `stride` apart, in place; beyond the ends the outermost entries
 * repeat.
 */
function blurAxis(image: Float32Array, kernel: Float64Array, length: number, stride: number, size: number): void {
  const radius = (kernel.length - 1) / 2;
  const line = new Float64Array(length);
  for (let outer = 0; outer < size; outer += length * stride) {
    for (let inner = 0; inner < stride; inner++) {
      const at = (place: number): number => outer + inner + place * stride;
      for (let place = 0; place < length; place++) line[place] = image[at(place)];
      for (let place = 0; place < length; place++) {
        let sum = 0;
        for (let offset = -radius; offset <= radius; offset++) {
          sum += kernel[offset + radius] * line[Math.min(length - 1, Math.max(0, place + offset))];
        }
        image[at(place)] = sum;
      }
    }
  }
}
