import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { preprocessingSchema } from '../../../../core/preprocessing/schema.ts';
import { imageFolder, imageTable } from '../../../../workers/data/images/image-splits.ts';
import { decodeImage, readImages } from '../../../../workers/data/images/decode.ts';
import { loadDataset } from '../../../../workers/data/streams/source-dataset.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-images-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Encode = (image: Sharp) => Sharp;

/** Writes an image of RGB values, row by row. */
async function write(
  path: string,
  [height, width]: [number, number],
  values: number[],
  encode: Encode,
): Promise<string> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  const image = sharp(Buffer.from(values), { raw: { height, width, channels: 3 } });
  await writeFile(file, await encode(image).toBuffer());
  return file;
}

const constant = (count: number, [red, green, blue]: [number, number, number]) =>
  Array.from({ length: count }, () => [red, green, blue]).flat();
const png: Encode = (image) => image.png();

describe('readImages', () => {
  const pixels = [0, 128, 255, 10, 20, 30, 40, 50, 60, 70, 80, 90];

  it.each([
    ['png', png],
    ['png of 16 bits', (image: Sharp) => image.toColourspace('rgb16').png()],
    ['webp', (image: Sharp) => image.webp({ lossless: true })],
    ['tiff', (image: Sharp) => image.tiff({ compression: 'lzw' })],
  ] satisfies [string, Encode][])('reads the values of %s', async (format, encode) => {
    const file = await write(`values/${format}.bin`, [2, 2], pixels, encode);
    expect([...(await readImages([file], { size: [2, 2] }))]).toEqual(pixels);
  });

  it.each([
    ['png', (image: Sharp) => image.toColourspace('b-w').png()],
    ['png of 16 bits', (image: Sharp) => image.toColourspace('grey16').png()],
    ['tiff', (image: Sharp) => image.toColourspace('b-w').tiff({ compression: 'lzw' })],
  ] satisfies [string, Encode][])('reads a grey %s as one channel or three', async (format, encode) => {
    const grey = [0, 90, 200, 255];
    const colours = grey.flatMap((value) => [value, value, value]);
    const file = await write(`grey/${format}.bin`, [2, 2], colours, encode);
    expect([...(await readImages([file], { size: [2, 2], channels: 1 }))]).toEqual(grey);
    expect([...(await readImages([file], { size: [2, 2], channels: 3 }))]).toEqual(colours);
  });

  it('reads JPEG and turns it upright', async () => {
    const red = await write('one.jpg', [8, 16], constant(128, [200, 30, 30]), (image) => image.jpeg({ quality: 100 }));
    for (const value of await readImages([red], { size: [8, 16], channels: 1 })) {
      // 0.299 · 200 + 0.587 · 30 + 0.114 · 30 = 80.8
      expect(Math.abs(value - 81)).toBeLessThanOrEqual(2);
    }
    const halves = [...constant(4, [255, 255, 255]), ...constant(4, [0, 0, 0])];
    const turned = await write('turned.png', [2, 4], halves, (image) => image.withMetadata({ orientation: 6 }).png());
    // Turned clockwise by a right angle, the white upper row is the right column.
    expect([...(await readImages([turned], { size: [4, 2], channels: 1 }))]).toEqual([0, 255, 0, 255, 0, 255, 0, 255]);
  });

  it('crops, adds borders or distorts images of another shape', async () => {
    const column = (value: number): [number, number, number] => [value, value, value];
    const row = [0, 100, 200, 250].flatMap((value) => column(value));
    const file = await write('wide.png', [2, 4], [...row, ...row], png);
    const read = async (fit: 'contain' | 'cover' | 'stretch', size: [number, number]) => [
      ...(await readImages([file], { size, fit, channels: 1 })),
    ];
    expect(await read('cover', [2, 2])).toEqual([100, 200, 100, 200]);
    expect(await read('contain', [4, 4])).toEqual([0, 0, 0, 0, 0, 100, 200, 250, 0, 100, 200, 250, 0, 0, 0, 0]);
    expect(await read('stretch', [2, 4])).toEqual([0, 100, 200, 250, 0, 100, 200, 250]);
  });

  it('lays transparent images on black', async () => {
    const drawn = async (name: string, bytes: number[], channels: 2 | 4) => {
      const file = join(folder, name);
      const image = sharp(Buffer.from(bytes), { raw: { height: 1, width: 2, channels } });
      await writeFile(file, await image.png().toBuffer());
      return [...(await readImages([file], { size: [1, 2] }))];
    };
    const colours = await drawn('alpha.png', [200, 100, 50, 0, 200, 100, 50, 255], 4);
    expect(colours).toEqual([0, 0, 0, 200, 100, 50]);
    // A fifth of each grey.
    expect(await drawn('grey-alpha.png', [90, 51, 200, 51], 2)).toEqual([18, 18, 18, 40, 40, 40]);
  });

  it('names what cannot be read', async () => {
    const whole = await sharp(Buffer.from(constant(900, [9, 99, 199])), { raw: { height: 30, width: 30, channels: 3 } })
      .jpeg()
      .toBuffer();
    const read = (bytes: Buffer, more = {}) => decodeImage(bytes, 'cat.jpg', { size: [4, 4], ...more });
    await expect(read(whole.subarray(0, 200))).rejects.toThrow(/^cat\.jpg cannot be decoded \(.*\)\. Remove it/);
    await expect(read(whole, { maximumPixels: 899 })).rejects.toThrow(
      /cat\.jpg cannot be decoded .*pixel limit.*maximumPixels/,
    );
    await expect(read(whole, { size: [0, 4] })).rejects.toThrow('A size of 0 × 4 pixels is not possible.');
    for (const other of ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'GIF89a', '%PDF-1.4', '']) {
      await expect(read(Buffer.from(other))).rejects.toThrow(
        'cat.jpg is no image that is read: PNG, JPEG, WebP or TIFF.',
      );
    }
  });
});

describe('imageFolder', () => {
  /** Grey images whose value counts them; 8 cats and 4 dogs. */
  const animals = async (path: string): Promise<string> => {
    for (let i = 0; i < 12; i++) {
      const name = i < 8 ? `cats/${i}.png` : `dogs/more/${i}.png`;
      await write(join(path, name), [2, 2], constant(4, [i, i, i]), png);
    }
    await writeFile(join(folder, path, 'cats', 'notes.txt'), 'no image');
    return join(folder, path);
  };

  it('takes classes from folders, and splits them in equal proportions', async () => {
    const path = await animals('animals');
    const options = { size: [2, 2], channels: 1, seed: 1, validation: 0.25, test: 3 } as const;
    const splits = await imageFolder(path, options);
    const { train, validation, test, preprocessing } = splits;
    expect(train.classNames).toEqual(['cats', 'dogs']);
    expect(train.featureShape).toEqual([2, 2, 1]);
    expect(train.strata).toEqual(train.targets);
    const labels = [train, validation, test].map((split) => [...(split?.targets ?? [])]);
    expect(labels).toEqual([
      [0, 0, 0, 0, 1, 1],
      [0, 0, 1],
      [0, 0, 1],
    ]);
    // Every image is in one split, with its class.
    const all = [train, validation, test].flatMap((split) =>
      [...(split?.targets ?? [])].map((label, i) => [split?.features[4 * i], label]),
    );
    const expected = Array.from({ length: 12 }, (_, i) => [i, i < 8 ? 0 : 1]);
    expect(all.sort(([a = 0], [b = 0]) => a - b)).toEqual(expected);
    expect(preprocessingSchema.parse(preprocessing)).toEqual({
      format: 1,
      steps: [{ kind: 'images', height: 2, width: 2, channels: 1, fit: 'cover' }],
      target: { kind: 'classes', column: 'class', classNames: ['cats', 'dogs'] },
    });
    const again = await imageFolder(path, options);
    expect(again.train.features).toEqual(train.features);
    const onDisk = await imageFolder(path, { ...options, onDisk: true });
    expect(onDisk.train.features).toHaveLength(0);
    expect((await loadDataset(onDisk.train)).features).toEqual(train.features);
  });

  it('takes the splits from folders where there are some', async () => {
    for (const split of ['train', 'val']) await animals(join('split', split));
    const { train, validation, test } = await imageFolder(join(folder, 'split'), { size: [1, 1], seed: 1 });
    expect([train.length, validation?.length, test]).toEqual([12, 12, undefined]);
  });

  it('names what does not fit', async () => {
    await mkdir(join(folder, 'empty', 'class'), { recursive: true });
    const options = { size: [2, 2], seed: 1 } as const;
    await expect(imageFolder(join(folder, 'empty'), options)).rejects.toThrow(
      /class has no images \(\.png, .*\)\. Remove the folder/,
    );
    await expect(imageFolder(join(folder, 'empty', 'class'), options)).rejects.toThrow('has no subfolders');
    const path = await animals('few');
    await expect(imageFolder(path, { ...options, test: 12 })).rejects.toThrow(
      '0 for validation and 12 for the test are not possible with 12 images',
    );
  });
});

describe('the order of classes', () => {
  it('is 1, 2, ... 12 for folders and tables alike', async () => {
    const digits = Array.from({ length: 12 }, (_, i) => i + 1);
    for (const digit of digits) {
      for (const i of [0, 1]) await write(`months/${digit}/${i}.png`, [1, 1], constant(1, [digit, 0, 0]), png);
    }
    const table = join(folder, 'months.csv');
    await writeFile(table, ['path,month', ...digits.map((i) => `months/${i}/0.png,${i}`)].join('\n'));
    const options = { size: [1, 1], seed: 1 } as const;
    const fromFolders = await imageFolder(join(folder, 'months'), options);
    const fromTable = await imageTable(table, { ...options, targetKind: 'classes' });
    for (const { train } of [fromFolders, fromTable]) {
      expect(train.classNames).toEqual(digits.map(String));
      // The red value of each image is its class.
      expect([...train.targets].map((label) => label + 1)).toEqual(
        Array.from(train.targets, (_, i) => train.features[3 * i]),
      );
    }
  });
});
