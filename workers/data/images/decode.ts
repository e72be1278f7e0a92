import { readFile } from 'node:fs/promises';
import type { ImagesStep } from '../../../core/preprocessing/schema.ts';
import { reasonOf } from '../sources/files.ts';

/** How images become bytes of one size. */
export interface ImageShape {
  /** Height and width of all images, in pixels. */
  size: readonly [height: number, width: number];
  /** 1: grey, 3: RGB (default). Transparent images are laid on black. */
  channels?: 1 | 3;
  /**
   * What happens to images of another aspect ratio: `cover` (default) crops around the centre, `contain` adds a black border, `stretch`
   * distorts.
   */
  fit?: ImagesStep['fit'];
  /** Larger images are refused before they are decoded: a small damaged file must not fill the memory. 2^26 by default. */
  maximumPixels?: number;
}

/** Images that are decoded at a time, in threads of libuv. */
const simultaneous = 4;
const usualMaximumPixels = 2 ** 26;

const sharpFits = { contain: 'contain', cover: 'cover', stretch: 'fill' } as const;

/** Beginnings of the formats that are read. */
const formats: readonly { name: string; isFormat: (bytes: Buffer) => boolean }[] = [
  { name: 'PNG', isFormat: (bytes) => bytes.subarray(0, 8).equals(Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1')) },
  { name: 'JPEG', isFormat: (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])) },
  {
    name: 'WebP',
    isFormat: (bytes) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP',
  },
  { name: 'TIFF', isFormat: (bytes) => ['II*\0', 'MM\0*'].includes(bytes.toString('latin1', 0, 4)) },
];

/** @throws Error if a size cannot be that of an image */
export function imagesStep({ size: [height, width], channels = 3, fit = 'cover' }: ImageShape): ImagesStep {
  if ([height, width].every((pixels) => Number.isInteger(pixels) && pixels >= 1)) {
    return { kind: 'images', height, width, channels, fit };
  }
  throw new Error(`A size of ${height} × ${width} pixels is not possible. Give height and width as whole numbers.`);
}

/**
 * Reads images into one array of bytes `[N, height, width, channels]`, in the order of the files: decoded (PNG, JPEG, WebP, TIFF), turned
 * upright as their EXIF data say, resized (Lanczos).
 * @throws Error that names the first damaged file
 */
export async function readImages(files: readonly string[], shape: ImageShape): Promise<Uint8Array> {
  const step = imagesStep(shape);
  const imageBytes = step.height * step.width * step.channels;
  const all = new Uint8Array(files.length * imageBytes);
  let next = 0;
  const readOthers = async (): Promise<void> => {
    for (let at = next++; at < files.length; at = next++) {
      const bytes = await readFile(files[at]);
      all.set(await decodeImage(bytes, files[at], shape), at * imageBytes);
    }
  };
  await Promise.all(Array.from({ length: Math.min(simultaneous, files.length) }, readOthers));
  return all;
}

/** One image from its bytes, `[height, width, channels]`; `file` names it in messages. */
export async function decodeImage(bytes: Buffer, file: string, shape: ImageShape): Promise<Uint8Array> {
  const { height, width, channels, fit } = imagesStep(shape);
  if (!formats.some(({ isFormat }) => isFormat(bytes))) {
    throw new Error(`${file} is no image that is read: PNG, JPEG, WebP or TIFF. Remove it, or convert it.`);
  }
  // Most runs read no images, and a worker's start is mostly the loading of modules.
  const { default: sharp } = await import('sharp');
  const limitInputPixels = shape.maximumPixels ?? usualMaximumPixels;
  try {
    const image = sharp(bytes, { limitInputPixels, failOn: 'error' })
      .autoOrient()
      .flatten({ background: '#000' })
      .resize({ height, width, fit: sharpFits[fit], background: '#000' });
    const decoded = await image.toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
    return withChannels(decoded.data, decoded.info.channels, channels);
  } catch (error) {
    throw new Error(
      `${file} cannot be decoded (${firstLine(reasonOf(error))}). Remove it, or write it again; larger images need maximumPixels.`,
      { cause: error },
    );
  }
}

/** Grey is 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), as in Pillow and torchvision. */
function withChannels(bytes: Buffer, found: number, wanted: 1 | 3): Uint8Array {
  if (found === wanted) return bytes;
  const pixels = bytes.length / found;
  if (wanted === 3) return Uint8Array.from({ length: 3 * pixels }, (_, i) => bytes[Math.floor(i / 3) * found]);
  return Uint8Array.from({ length: pixels }, (_, pixel) => {
    const [red, green, blue] = bytes.subarray(pixel * found, pixel * found + 3);
    return found < 3 ? red : Math.round((299 * red + 587 * green + 114 * blue) / 1000);
  });
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0];
}
