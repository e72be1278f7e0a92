import { readFile } from 'node:fs/promises';
import type { Metadata, Sharp } from 'sharp';
import type { ImagesStep } from '../../../core/preprocessing/schema.ts';
import { noteData } from '../notes.ts';
import { reasonOf } from '../sources/files.ts';
import { bytesOf, deepSpace, ImageFindings } from './deep-images.ts';

/** How images become bytes of one size. */
export interface ImageShape {
  /** Height and width of all images, in pixels. */
  size: readonly [height: number, width: number];
  /** 1: grey, 3: RGB (default). Transparent images are laid on black. */
  channels?: 1 | 3;
  /**
   * What happens to images of another aspect ratio: `cover` (default) crops around the centre, `contain` adds a black
   * border, `stretch` distorts.
   */
  fit?: ImagesStep['fit'];
  /**
   * The value that becomes 255 in images of more than 8 bits a value, such as 4095 for 12 bits; others keep their
   * bytes. By default 65535 for 16 bits; images of floats and of 32 bits need it.
   */
  maximum?: number;
  /**
   * Larger images are refused before they are decoded: a small damaged file must not fill the memory. 2^26 by default.
   */
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

/** @throws Error if a size cannot be that of an image, or a maximum not that of its values */
export function imagesStep({ size: [height, width], channels = 3, fit = 'cover', maximum }: ImageShape): ImagesStep {
  if (maximum !== undefined && !(maximum > 0 && Number.isFinite(maximum))) {
    throw new Error(`A maximum of ${maximum} is not possible. Give the value that becomes 255, above 0.`);
  }
  if ([height, width].every((pixels) => Number.isInteger(pixels) && pixels >= 1)) {
    return { kind: 'images', height, width, channels, fit, ...(maximum !== undefined && { maximum }) };
  }
  throw new Error(`A size of ${height} × ${width} pixels is not possible. Give height and width as whole numbers.`);
}

/**
 * Reads images into one array of bytes `[N, height, width, channels]`, in the order of the files: decoded (PNG, JPEG,
 * WebP, TIFF), values of more than 8 bits scaled to bytes, turned upright as their EXIF data say, resized (Lanczos).
 * @throws Error that names the first damaged file, or values that cannot be scaled without the option maximum
 */
export async function readImages(files: readonly string[], shape: ImageShape): Promise<Uint8Array> {
  const findings = new ImageFindings();
  const bytes = await decodeImages(files, shape, findings);
  tellFindings(files.length === 1 ? files[0] : `the ${files.length} files`, findings, shape);
  return bytes;
}

/** Notes what images of new data have. @throws Error where their values cannot be scaled without the option maximum */
export function tellFindings(name: string, findings: ImageFindings, { maximum }: ImageShape): void {
  if (maximum === undefined) findings.requireScale(name);
  for (const note of findings.notes(maximum)) noteData(note);
}

/** Like {@link readImages}, for images of which the scale is settled. */
export async function decodeImages(files: readonly string[], shape: ImageShape, findings?: ImageFindings) {
  const step = imagesStep(shape);
  const imageBytes = step.height * step.width * step.channels;
  const all = new Uint8Array(files.length * imageBytes);
  await forEachImage(files, async (bytes, file, at) => {
    all.set(await decodeImage(bytes, file, shape, findings), at * imageBytes);
  });
  return all;
}

/** Reads files, some at a time, and does `work` with the bytes of each. */
export async function forEachImage(
  files: readonly string[],
  work: (bytes: Buffer, file: string, at: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const readOthers = async (): Promise<void> => {
    for (let at = next++; at < files.length; at = next++) await work(await readFile(files[at]), files[at], at);
  };
  await Promise.all(Array.from({ length: Math.min(simultaneous, files.length) }, readOthers));
}

/** What an image's head says about it. @throws Error that names a file that is no image, or is damaged */
export async function imageHead(bytes: Buffer, file: string, { maximumPixels }: Partial<ImageShape> = {}) {
  requireFormat(bytes, file);
  const { default: sharp } = await import('sharp');
  return decoding(file, sharp(bytes, { limitInputPixels: maximumPixels ?? usualMaximumPixels }).metadata());
}

function requireFormat(bytes: Buffer, file: string): void {
  if (formats.some(({ isFormat }) => isFormat(bytes))) return;
  throw new Error(`${file} is no image that is read: PNG, JPEG, WebP or TIFF. Remove it, or convert it.`);
}

/** One image from its bytes, `[height, width, channels]`; `file` names it in messages. */
export async function decodeImage(
  bytes: Buffer,
  file: string,
  shape: ImageShape,
  findings?: ImageFindings,
): Promise<Uint8Array> {
  const { height, width, channels, fit } = imagesStep(shape);
  requireFormat(bytes, file);
  // Most runs read no images, and a worker's start is mostly the loading of modules.
  const { default: sharp } = await import('sharp');
  const limitInputPixels = shape.maximumPixels ?? usualMaximumPixels;
  const open = () => sharp(bytes, { limitInputPixels, failOn: 'error' }).autoOrient().flatten({ background: '#000' });
  const about = isPlain(bytes) ? plain : await decoding(file, open().metadata());
  let scaled: Sharp | null = null;
  let largest = 0;
  if (about.depth !== plain.depth) {
    const space = deepSpace(about, file);
    const image = open().pipelineColourspace(space).toColourspace(space).raw({ depth: 'double' });
    const found = bytesOf(
      await decoding(file, image.toBuffer({ resolveWithObject: true })),
      about,
      file,
      shape.maximum,
    );
    largest = found.largest;
    if (shape.maximum !== undefined) scaled = sharp(found.bytes, { raw: found.raw });
  }
  findings?.add(file, { depth: about.depth, largest, pages: about.pages ?? 1 });
  const resized = (scaled ?? open()).resize({ height, width, fit: sharpFits[fit], background: '#000' });
  // Three channels of grey images too.
  const colours = await decoding(file, resized.toColourspace('srgb').raw().toBuffer());
  return channels === 3 ? colours : greyOf(colours);
}

const plain: Pick<Metadata, 'depth' | 'space' | 'pages'> = { depth: 'uchar', space: 'srgb' };

/**
 * Whether an image has one page and 8 bits a value, as the first bytes of most tell: reading about the others takes
 * time.
 */
function isPlain(bytes: Buffer): boolean {
  const format = formats.find(({ isFormat }) => isFormat(bytes))?.name;
  return format === 'JPEG' || (format === 'PNG' && bytes[24] !== 16);
}

async function decoding<T>(file: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(
      `${file} cannot be decoded (${firstLine(reasonOf(error))}). Remove it, or write it again; larger images ` +
        'need maximumPixels.',
      { cause: error },
    );
  }
}

/** Grey is 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), as in Pillow and torchvision. */
function greyOf(colours: Uint8Array): Uint8Array {
  return Uint8Array.from({ length: colours.length / 3 }, (_, pixel) => {
    const [red, green, blue] = colours.subarray(pixel * 3, pixel * 3 + 3);
    return Math.round((299 * red + 587 * green + 114 * blue) / 1000);
  });
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0];
}
