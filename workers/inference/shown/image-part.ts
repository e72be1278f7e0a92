import type { InputPart } from '../../../core/ensemble/sample-inputs.ts';

/** A longer edge is reduced to this number of pixels. */
const largestEdge = 512;

/** An image's size; `channels` are all that a pixel has. */
export interface ImageSize {
  height: number;
  width: number;
  channels: number;
}

/**
 * An image as a PNG file of at most 512 × 512 pixels: grey for one or two channels, RGB of the first three for more. Bytes stay as they are. Other values are shown
 * from 0 to 1 where all are in it, else from the smallest to the largest; NaN is black.
 *
 * @param values shape `[height, width, channels]`
 */
export async function imagePart(
  name: string | null,
  values: Float32Array | Uint8Array,
  { height, width, channels }: ImageSize,
): Promise<InputPart> {
  const shown = channels < 3 ? 1 : 3;
  const levels = levelsOf(values);
  const bytes = Buffer.from(
    Uint8Array.from({ length: height * width * shown }, (_, i) =>
      levels(values[Math.floor(i / shown) * channels + (i % shown)]),
    ),
  );
  // Most projects have no images.
  const { default: sharp } = await import('sharp');
  const image = sharp(bytes, { raw: { height, width, channels: shown } });
  const scale = Math.min(1, largestEdge / Math.max(height, width));
  const reduced =
    scale === 1
      ? image
      : image.resize({
          height: Math.max(1, Math.round(height * scale)),
          width: Math.max(1, Math.round(width * scale)),
          fit: 'fill',
          background: '#000',
        });
  return { kind: 'image', name, png: new Uint8Array(await reduced.png().toBuffer()), height, width };
}

/** From a value to a byte. */
function levelsOf(values: Float32Array | Uint8Array): (value: number) => number {
  if (values instanceof Uint8Array) return (value) => value;
  const finite = values.filter(Number.isFinite);
  const low = finite.reduce((least, value) => Math.min(least, value), Infinity);
  const high = finite.reduce((most, value) => Math.max(most, value), -Infinity);
  const [from, to] = low >= 0 && high <= 1 ? [0, 1] : [low, high];
  return (value) => {
    if (Number.isNaN(value) || to === from) return 0;
    return Math.round(255 * Math.min(1, Math.max(0, (value - from) / (to - from))));
  };
}
