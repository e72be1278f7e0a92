/** Changes of the colours of one image, whose values lie in [0, 1]; in place. C channels: 1 grey or 3 RGB. */

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

export function clamp(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}
