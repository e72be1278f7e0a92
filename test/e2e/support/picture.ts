import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pixelmatch from 'pixelmatch';
import sharp from 'sharp';

/**
 * How far a colour may be from that of the reference, from 0 to 1; smoothed edges do not count. Another build of
 * Chromium rounds colours otherwise.
 */
const colorTolerance = 0.02;
/** Share of pixels that may differ. The patch of a token on the design page is ten times as large. */
const toleratedShare = 0.0002;

/** Where pictures lie that differ from their references. */
const differenceFolder = join(import.meta.dirname, '../../../out/differences');

interface Pixels {
  data: Buffer;
  width: number;
  height: number;
}

async function pixelsOf(file: Buffer): Promise<Pixels> {
  const { data, info } = await sharp(file).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/**
 * Compares a picture with its reference, pixel by pixel.
 * @returns null if they agree, else what differs and where it can be seen
 */
export async function differenceFrom(reference: string, taken: Buffer, name: string): Promise<string | null> {
  const [expected, actual] = await Promise.all([pixelsOf(await readFile(reference)), pixelsOf(taken)]);
  const { width, height } = expected;
  const update = 'If it should look so, run `npm run screenshots -- --design` and look at what git then shows.';
  if (actual.width !== width || actual.height !== height) {
    const at = await keep(taken, `${name}-taken`);
    return (
      `${name} is ${actual.width} x ${actual.height} pixels large, and was ${width} x ` +
      `${height}: see ${at}. ${update}`
    );
  }
  const difference = Buffer.alloc(expected.data.length);
  const options = { threshold: colorTolerance, includeAA: false };
  const count = pixelmatch(expected.data, actual.data, difference, width, height, options);
  if (count <= toleratedShare * width * height) return null;
  const at = await keep(
    await sharp(difference, { raw: { width, height, channels: 4 } })
      .png()
      .toBuffer(),
    name,
  );
  await keep(taken, `${name}-taken`);
  return `${count} of ${width * height} pixels of ${name} differ: see ${at}. ${update}`;
}

async function keep(picture: Buffer, name: string): Promise<string> {
  const path = join(differenceFolder, `${name}.png`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, picture);
  return path;
}
