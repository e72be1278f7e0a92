import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { Generator } from '../../../core/random/generator.ts';
import type { Batch, Dataset, Normalization } from '../dataset.ts';
import { type Affine, type ImageSize, paste, rectangleAround, rotation, shift, warp } from './geometry.ts';

// Changes of the colours of one image, whose values lie in [0, 1], in place. It has 1 channel (grey) or 3 (RGB).

/** Shares of red, green and blue in grey (ITU-R BT.601). */
const greyShares = [0.299, 0.587, 0.114];

/** factor · v */
export function brightness(image: Float32Array, factor: number): void {
  for (let i = 0; i < image.length; i++) image[i] = clamp(factor * image[i]);
}

/** factor · v + (1 − factor) · m, with the mean m of the image's grey values */
export function contrast(image: Float32Array, channels: number, factor: number): void {
  let mean = 0;
  for (let pixel = 0; pixel < image.length; pixel += channels) mean += greyOf(image, pixel, channels);
  mean /= image.length / channels;
  for (let i = 0; i < image.length; i++) image[i] = clamp(factor * image[i] + (1 - factor) * mean);
}

/** factor · v + (1 − factor) · g, with the grey value g of the pixel; grey images stay as they are */
export function saturation(image: Float32Array, channels: number, factor: number): void {
  if (channels === 1) return;
  for (let pixel = 0; pixel < image.length; pixel += channels) {
    const grey = greyOf(image, pixel, channels);
    for (let i = pixel; i < pixel + channels; i++) image[i] = clamp(factor * image[i] + (1 - factor) * grey);
  }
}

/** Inverts the values from `threshold` on: 1 − v. */
export function solarize(image: Float32Array, threshold: number): void {
  for (let i = 0; i < image.length; i++) if (image[i] >= threshold) image[i] = 1 - image[i];
}

/** Keeps the upper `bits` of each value as a byte. */
export function posterize(image: Float32Array, bits: number): void {
  const mask = 256 - 2 ** (8 - bits);
  for (let i = 0; i < image.length; i++) image[i] = (Math.round(image[i] * 255) & mask) / 255;
}

/** Stretches the values of each channel to [0, 1]; a constant channel stays. */
export function autoContrast(image: Float32Array, channels: number): void {
  for (let channel = 0; channel < channels; channel++) {
    let [lowest, highest] = [1, 0];
    for (let i = channel; i < image.length; i += channels) {
      lowest = Math.min(lowest, image[i]);
      highest = Math.max(highest, image[i]);
    }
    if (highest <= lowest) continue;
    for (let i = channel; i < image.length; i += channels) image[i] = (image[i] - lowest) / (highest - lowest);
  }
}

/**
 * Makes the values of each channel, as bytes, about equally frequent (`ImageOps.equalize` of Pillow): each byte becomes
 * the number of smaller ones, divided by the step that leads to 255; a channel with too few other values for a step of
 * 1 stays.
 */
export function equalize(image: Float32Array, channels: number): void {
  for (let channel = 0; channel < channels; channel++) {
    const counts = new Int32Array(256);
    for (let i = channel; i < image.length; i += channels) counts[byteOf(image[i])] += 1;
    const largest = counts.findLastIndex((count) => count > 0);
    const step = Math.floor((image.length / channels - counts[largest]) / 255);
    if (step === 0) continue;
    let smaller = Math.floor(step / 2);
    const equalized = Float32Array.from(counts, (count) => {
      const byte = Math.min(Math.floor(smaller / step), 255);
      smaller += count;
      return byte / 255;
    });
    for (let i = channel; i < image.length; i += channels) image[i] = equalized[byteOf(image[i])];
  }
}

function byteOf(value: number): number {
  return Math.round(clamp(value) * 255);
}

function greyOf(image: Float32Array, pixel: number, channels: number): number {
  if (channels === 1) return image[pixel];
  return greyShares[0] * image[pixel] + greyShares[1] * image[pixel + 1] + greyShares[2] * image[pixel + 2];
}

function clamp(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}

export type Augmentation = RunConfig['augmentation'];

/** Whether images change one by one; mixing is another matter. */
export function changesImages(options: Augmentation): boolean {
  return options.cropPadding > 0 || options.horizontalFlip || options.verticalFlip || isMore(options);
}

/** Whether batches are changed at all. */
export function isAugmented({ augmentation }: Pick<RunConfig, 'augmentation'>): boolean {
  return changesImages(augmentation) || augmentation.mixup > 0 || augmentation.cutmix > 0;
}

function isMore(options: Augmentation): boolean {
  const { rotation: degrees, cutout, randAugment } = options;
  return degrees > 0 || cutout > 0 || randAugment > 0 || changesColours(options);
}

function changesColours(options: Augmentation): boolean {
  return options.brightness > 0 || options.contrast > 0 || options.saturation > 0;
}

/**
 * Checks that a data set can be augmented.
 * @throws Error that names the data set, its shape and the remedy
 */
export function requireAugmentable(dataset: Dataset, options: Augmentation): void {
  const { name, featureShape, features } = dataset;
  const remedy = 'Turn the options of augmentation off, or give images.';
  if ((changesImages(options) || options.cutmix > 0) && featureShape.length !== 3) {
    throw new Error(
      `Augmentation is for images of shape [height, width, channels]; samples of "${name}" have ` +
        `[${featureShape.join(', ')}]. ${remedy}`,
    );
  }
  if (!changesColours(options) && options.randAugment === 0) return;
  if (features instanceof Uint8Array && [1, 3].includes(featureShape[2])) return;
  throw new Error(
    `Colours are changed of images of bytes with 1 or 3 channels; "${name}" has ${featureShape[2]} channel(s) of ` +
      `${features instanceof Uint8Array ? 'bytes' : 'floats'}. ${remedy}`,
  );
}

/**
 * Changes each image of a batch `[B, H, W, C]` at random, in this order: crop and flips (He et al., 2016, "Deep
 * residual learning", section 4.2), rotation, RandAugment, colours, cutout (DeVries and Taylor, 2017). Pixels from
 * outside of an image are 0 after normalization: they have the mean colour. The result depends only on the batch and
 * the generator.
 * @param target receives the features
 */
export function augmentImages(
  batch: Batch,
  options: Augmentation,
  { generator, normalization, target }: { generator: Generator; normalization?: Normalization; target: Float32Array },
): Batch {
  const [count, height, width, channels] = batch.featureShape;
  const about = { options, generator, normalization, size: [height, width, channels] as const };
  const length = height * width * channels;
  const features = target.subarray(0, count * length).fill(0);
  const room = new Float32Array(length);
  for (let start = 0; start < features.length; start += length) {
    const image = features.subarray(start, start + length);
    shift(batch.features.subarray(start, start + length), image, about.size, drawShift(options, generator));
    if (isMore(options)) changeImage(image, room, about);
  }
  return { ...batch, features };
}

function drawShift({ cropPadding, horizontalFlip, verticalFlip }: Augmentation, generator: Generator) {
  return {
    top: generator.integer(2 * cropPadding + 1) - cropPadding,
    left: generator.integer(2 * cropPadding + 1) - cropPadding,
    isMirrored: horizontalFlip && generator.integer(2) === 1,
    isFlipped: verticalFlip && generator.integer(2) === 1,
  };
}

interface About {
  options: Augmentation;
  generator: Generator;
  normalization?: Normalization;
  size: ImageSize;
}

function changeImage(
  image: Float32Array,
  room: Float32Array,
  { options, generator, normalization, size }: About,
): void {
  const operations: Operation[] = [];
  if (options.rotation > 0)
    operations.push({ kind: 'place', map: rotation(between(generator, -options.rotation, options.rotation)) });
  operations.push(...drawOperations(options, size, generator));
  operations.push(...drawColours(options, generator));
  for (const operation of operations) {
    if (operation.kind === 'place') {
      room.set(image);
      warp(room, image, size, operation.map);
    } else {
      rescale(image, normalization, 'pixels');
      operation.change(image, size);
      rescale(image, normalization, 'normalized');
    }
  }
  if (options.cutout > 0) {
    const centre = [generator.integer(size[0]), generator.integer(size[1])] as const;
    paste(image, size, rectangleAround(centre, [options.cutout, options.cutout], size));
  }
}

/** Factors in [1 − range, 1 + range], as in torchvision's `ColorJitter`. */
function drawColours(options: Augmentation, generator: Generator): Operation[] {
  const factorOf = (range: number) => between(generator, Math.max(0, 1 - range), 1 + range);
  const operations: Operation[] = [];
  const add = (range: number, change: (image: Float32Array, channels: number, factor: number) => void) => {
    if (range === 0) return;
    const factor = factorOf(range);
    operations.push({ kind: 'colour', change: (image, [, , channels]) => change(image, channels, factor) });
  };
  add(options.brightness, (image, _, factor) => brightness(image, factor));
  add(options.contrast, contrast);
  add(options.saturation, saturation);
  return operations;
}

function between(generator: Generator, low: number, high: number): number {
  return low + (high - low) * generator.uniform();
}

/** From normalized values to those in [0, 1], and back. */
function rescale(image: Float32Array, normalization: Normalization | undefined, to: 'pixels' | 'normalized'): void {
  if (normalization === undefined) return;
  const { mean, std } = normalization;
  for (let i = 0; i < image.length; i++) {
    const channel = i % mean.length;
    const value = image[i];
    image[i] = to === 'pixels' ? value * std[channel] + mean[channel] : (value - mean[channel]) / std[channel];
  }
}

/** Magnitudes are shares of this one. */
const largestMagnitude = 30;

/** What an operation may change: the values in [0, 1], or the place of the pixels. */
type Operation =
  { kind: 'colour'; change: (image: Float32Array, size: ImageSize) => void } | { kind: 'place'; map: Affine };

type Choice = (strength: number, sign: 1 | -1, size: ImageSize) => Operation | null;

const colour = (change: (image: Float32Array, size: ImageSize) => void): Operation => ({ kind: 'colour', change });
const place = (map: Affine): Operation => ({ kind: 'place', map });

/** The operations with their ranges, at `strength` 1; those of torchvision's RandAugment. */
const choices: readonly Choice[] = [
  () => null,
  (strength, sign) => place([1, sign * 0.3 * strength, 0, 0, 1, 0]),
  (strength, sign) => place([1, 0, 0, sign * 0.3 * strength, 1, 0]),
  (strength, sign, [, width]) => place([1, 0, Math.trunc((sign * strength * 150 * width) / 331), 0, 1, 0]),
  (strength, sign, [height]) => place([1, 0, 0, 0, 1, Math.trunc((sign * strength * 150 * height) / 331)]),
  (strength, sign) => place(rotation(sign * 30 * strength)),
  (strength, sign) => colour((image) => brightness(image, 1 + sign * 0.9 * strength)),
  (strength, sign) => colour((image, [, , channels]) => saturation(image, channels, 1 + sign * 0.9 * strength)),
  (strength, sign) => colour((image, [, , channels]) => contrast(image, channels, 1 + sign * 0.9 * strength)),
  (strength, sign) => colour((image, size) => sharpness(image, size, 1 + sign * 0.9 * strength)),
  (strength) => colour((image) => posterize(image, 8 - Math.round(4 * strength))),
  (strength) => colour((image) => solarize(image, 1 - strength)),
  () => colour((image, [, , channels]) => autoContrast(image, channels)),
  () => colour((image, [, , channels]) => equalize(image, channels)),
];

/**
 * Draws the operations of one image (Cubuk et al., 2020, "RandAugment"), of the same magnitude each, in [0, 30].
 * Every draw takes as many random numbers as any other.
 */
export function drawOperations(
  { randAugment, magnitude }: { randAugment: number; magnitude: number },
  size: ImageSize,
  generator: Generator,
): Operation[] {
  return Array.from({ length: randAugment }, () => {
    const choice = choices[generator.integer(choices.length)];
    const sign = generator.integer(2) === 1 ? 1 : -1;
    return choice(magnitude / largestMagnitude, sign, size);
  }).filter((operation) => operation !== null);
}

/** Weight of a pixel in its smoothed value; its eight neighbours have 1 each. */
const centreWeight = 5;

/**
 * factor · v + (1 − factor) · s of an image in [0, 1], in place: s is the mean of a pixel and its eight neighbours, in
 * which the pixel counts five times (`ImageEnhance.Sharpness` of Pillow). Pixels at the border stay as they are.
 */
export function sharpness(image: Float32Array, [height, width, channels]: ImageSize, factor: number): void {
  const before = image.slice();
  for (let row = 1; row < height - 1; row++) {
    for (let column = 1; column < width - 1; column++) {
      for (let channel = 0; channel < channels; channel++) {
        const at = (row * width + column) * channels + channel;
        let sum = (centreWeight - 1) * before[at];
        for (let above = at - width * channels; above <= at + width * channels; above += width * channels) {
          sum += before[above - channels] + before[above] + before[above + channels];
        }
        image[at] = clamp(factor * before[at] + ((1 - factor) * sum) / (centreWeight + 8));
      }
    }
  }
}
