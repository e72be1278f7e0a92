import type { Generator } from '../../../core/random/generator.ts';
import { autoContrast, brightness, contrast, equalize, posterize, saturation, solarize } from './colour.ts';
import { sharpness } from './sharpness.ts';
import { type Affine, type ImageSize, rotation } from './geometry.ts';

/** Magnitudes are shares of this one. */
export const largestMagnitude = 30;

/** What an operation may change: the values in [0, 1], or the place of the pixels. */
export type Operation =
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
