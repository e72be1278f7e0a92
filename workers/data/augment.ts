import type { Generator } from '../random/generator.ts';
import type { Batch } from './dataset.ts';

export interface AugmentOptions {
  /** Width of a border of zeros, in pixels. A random crop of the original size is taken from the padded image; 0: no crop. */
  cropPadding: number;
  /** Mirror every image with probability 1/2. */
  horizontalFlip: boolean;
}

/**
 * Crops and mirrors each image of a batch `[B, H, W, C]` at random (He et al., 2016, "Deep residual learning", section 4.2).
 * Images are padded after normalization, so the border has the mean colour. The result depends only on the batch and the generator.
 * @throws RangeError if samples are not images
 */
export function augmentImages(batch: Batch, options: AugmentOptions, generator: Generator): Batch {
  const { cropPadding, horizontalFlip } = options;
  if (cropPadding === 0 && !horizontalFlip) return batch;
  if (batch.featureShape.length !== 4) {
    throw new RangeError(
      `Crops and flips are for images of shape [height, width, channels]; samples here have [${batch.featureShape.slice(1).join(', ')}]. ` +
        'Turn both off.',
    );
  }
  const features = new Float32Array(batch.features.length);
  const size = features.length / batch.featureShape[0];
  for (let start = 0; start < features.length; start += size) {
    const top = generator.integer(2 * cropPadding + 1) - cropPadding;
    const left = generator.integer(2 * cropPadding + 1) - cropPadding;
    const isMirrored = horizontalFlip && generator.integer(2) === 1;
    const source = batch.features.subarray(start, start + size);
    copyShifted(source, features.subarray(start, start + size), batch.featureShape, { top, left, isMirrored });
  }
  return { ...batch, features };
}

interface Shift {
  /** Row and column of the source at the target's top left; places outside the source become zeros. */
  top: number;
  left: number;
  isMirrored: boolean;
}

function copyShifted(source: Float32Array, target: Float32Array, shape: readonly number[], shift: Shift): void {
  const [, height, width, channels] = shape;
  for (let row = 0; row < height; row++) {
    const fromRow = row + shift.top;
    if (fromRow < 0 || fromRow >= height) continue;
    for (let column = 0; column < width; column++) {
      const fromColumn = (shift.isMirrored ? width - 1 - column : column) + shift.left;
      if (fromColumn < 0 || fromColumn >= width) continue;
      const from = (fromRow * width + fromColumn) * channels;
      const to = (row * width + column) * channels;
      for (let channel = 0; channel < channels; channel++) target[to + channel] = source[from + channel];
    }
  }
}
