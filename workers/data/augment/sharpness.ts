import { clamp } from './colour.ts';
import type { ImageSize } from './geometry.ts';

/** Weight of a pixel in its smoothed value; its eight neighbours have 1 each. */
const centreWeight = 5;

/**
 * factor · v + (1 − factor) · s of an image in [0, 1], in place: s is the mean of a pixel and its eight neighbours, in which the pixel counts five
 * times (`ImageEnhance.Sharpness` of Pillow). Pixels at the border stay as they are.
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
