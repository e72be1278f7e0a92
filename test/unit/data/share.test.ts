import { readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDataset, createSplits, take } from '../../../workers/data/dataset.ts';
import { mapSplits, readSplits, writeSplits } from '../../../workers/data/share.ts';
import { temporaryFolder } from './temp-folder.ts';
import { notMapped, notRun } from '../../environment/reasons.ts';

const images = createDataset({
  name: 'Bilder (ü)',
  featureShape: [1, 3, 1],
  features: Uint8Array.of(0, 1, 2, 253, 254, 255),
  targets: Int32Array.of(1, 0),
  classNames: ['nein', 'ja'],
  normalization: { mean: [0.1], std: [1 / 3] },
});

const values = createDataset({
  name: 'values',
  featureShape: [2],
  features: Float32Array.of(Number.NaN, Infinity, -Infinity, -0, 1e-45, 3.4e38),
  targets: Float32Array.of(1, Number.NaN, 3, -Infinity, 5, 6),
});

async function written(splits = createSplits({ train: values })): Promise<string> {
  const file = join(await temporaryFolder(), 'splits.bin');
  await writeSplits(file, splits);
  return file;
}

describe('writeSplits and readSplits', () => {
  it.each([
    ['bytes and labels', createSplits({ train: images, test: take(images, 1) })],
    ['notes', createSplits({ train: images, notes: ['8 files are left out.', 'A second note.'] })],
    ['floats with NaN, infinities and -0', createSplits({ train: values, validation: take(values, 1), test: values })],
  ])('return exactly what was written: %s', async (_, splits) => {
    expect(await readSplits(await written(splits))).toEqual(splits);
  });

  it.skipIf(notMapped !== null)(`map the file, which others may then delete${notRun(notMapped)}`, async () => {
    const splits = createSplits({ train: images, test: take(images, 1) });
    const file = await written(splits);
    const [mine, another] = [await mapSplits(file), await mapSplits(file)];
    await rm(file);
    expect(mine).toEqual(splits);
    mine.train.features[0] = 9;
    expect(another).toEqual(splits);
  });

  it.skipIf(notMapped !== null)(`refuse to map a truncated file${notRun(notMapped)}`, async () => {
    const file = await written();
    await truncate(file, 100);
    await expect(mapSplits(file)).rejects.toThrow('splits.bin is truncated or corrupt: it has 100 bytes');
  });

  it('keep every bit of a NaN', async () => {
    const features = new Float32Array(Uint32Array.of(0x7fc00001, 0xffc12345).buffer);
    const dataset = createDataset({ name: 'NaN', featureShape: [1], features, targets: Float32Array.of(0, 0) });
    const { train } = await readSplits(await written(createSplits({ train: dataset })));
    const { buffer, byteOffset } = train.features;
    expect(new Uint32Array(buffer, byteOffset, 2)).toEqual(Uint32Array.of(0x7fc00001, 0xffc12345));
  });

  it('leave no file behind', async () => {
    const file = await written();
    expect(await readdir(join(file, '..'))).toEqual(['splits.bin']);
  });

  it('align every array to 8 bytes', async () => {
    const { train, test } = await readSplits(await written(createSplits({ train: images, test: images })));
    for (const array of [train.features, train.targets, test?.features, test?.targets]) {
      expect((array?.byteOffset ?? 1) % 8).toBe(0);
    }
  });

  it('refuse a truncated file', async () => {
    const file = await written();
    const { length } = await readFile(file);
    await truncate(file, length - 1);
    await expect(readSplits(file)).rejects.toThrow(
      `${file} is truncated or corrupt: it has ${length - 1} bytes, expected ${length} bytes`,
    );
    await truncate(file, 5);
    await expect(readSplits(file)).rejects.toThrow('it has 5 bytes');
  });

  it('refuse a file with any one bit flipped', async () => {
    const file = await written();
    const intact = await readFile(file);
    const bits = fc.integer({ min: 0, max: 8 * intact.length - 1 });
    await fc.assert(
      fc.asyncProperty(bits, async (bit) => {
        const corrupt = Buffer.from(intact);
        corrupt[bit >> 3] ^= 1 << (bit & 7);
        await writeFile(file, corrupt);
        await expect(readSplits(file)).rejects.toThrow('truncated or corrupt');
      }),
      { numRuns: 60 },
    );
  });

  it('name the file and its size if it cannot be written', async () => {
    const file = join(await temporaryFolder(), 'missing', 'splits.bin');
    const failure = writeSplits(file, createSplits({ train: values }));
    await expect(failure).rejects.toThrow(`could not be shared through ${file} (ENOENT`);
    await expect(failure).rejects.toThrow(/It takes \d+ bytes, and [\d,]+ bytes are free: make that much room/);
  });
});
