import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { readImages } from '../../../../workers/data/images/decode.ts';
import { imageFolder } from '../../../../workers/data/images/image-splits.ts';
import { withNotes } from '../../../../workers/data/notes.ts';
import { loadDataset } from '../../../../workers/data/streams/source-dataset.ts';
import { temporaryFolder } from '../temp-folder.ts';
import { tiff } from './tiff.ts';

async function fileOf(bytes: Buffer, name = 'scan.tif'): Promise<string> {
  const file = join(await temporaryFolder(), name);
  await writeFile(file, bytes);
  return file;
}

async function read(bytes: Buffer, width: number, maximum?: number) {
  const file = await fileOf(bytes);
  const { result, notes } = await withNotes(() => readImages([file], { size: [1, width], channels: 1, maximum }));
  return { values: [...result], notes: notes.map((note) => note.replace(file, 'f')) };
}

describe('images of more than 8 bits', () => {
  it('are scaled by the maximum that is given, and never cut', async () => {
    const twelve = tiff(Uint16Array.of(0, 1000, 2048, 4095));
    // 255 · 1000 / 4095 = 62.3, 255 · 2048 / 4095 = 127.5
    expect(await read(twelve, 4, 4095)).toEqual({
      values: [0, 62, 128, 255],
      notes: [
        'Images of more than 8 bits a value: 1 of 1 (f). 4095 becomes 255 (option maximum); the largest ' +
          'value that was found is 4095.',
      ],
    });
    await expect(read(twelve, 4, 4000)).rejects.toThrow(
      /scan\.tif holds values from 0 to 4095, but the maximum 4000 allows those from 0 to it\. Give a larger maximum/,
    );
  });

  it('are asked about where 16 bits hold fewer', async () => {
    await expect(read(tiff(Uint16Array.of(0, 1000, 2048, 4095)), 4)).rejects.toThrow(
      /have 16 bits a value \(.*scan\.tif\), but none is above 4095 of 65535\. Give maximum: 4095 if these are numbers of 12 bits, or maximum: 65535/,
    );
    await expect(read(tiff(Uint16Array.of(0, 16_000)), 2)).rejects.toThrow(
      'maximum: 16383 if these are numbers of 14 bits',
    );
    await expect(read(tiff(Uint16Array.of(0, 255)), 2)).rejects.toThrow('maximum: 255 if these are numbers of 8 bits');
    expect((await read(tiff(Uint16Array.of(0, 4095)), 2, 65_535)).values).toEqual([0, 16]);
    expect((await read(tiff(Uint16Array.of(0, 0x1234, 0xffff)), 3)).values).toEqual([0, 0x12, 0xff]);
  });

  it('need a maximum where they hold floats or 32 bits', async () => {
    expect((await read(tiff(Float32Array.of(0, 0.25, 0.5, 1)), 4, 1)).values).toEqual([0, 64, 128, 255]);
    expect((await read(tiff(Uint32Array.of(0, 1e9, 2e9)), 3, 2e9)).values).toEqual([0, 128, 255]);
    await expect(read(tiff(Float32Array.of(0.25, 0.5)), 2)).rejects.toThrow(
      /scan\.tif holds float numbers, from 0\.25 to 0\.5: give maximum, the value that becomes 255\.$/,
    );
    await expect(read(tiff(Float32Array.of(-1, 0.5)), 2, 1)).rejects.toThrow('holds values from -1 to 0.5');
    await expect(read(tiff(Float32Array.of(Number.NaN, 0.5)), 2, 1)).rejects.toThrow(
      'holds values that are no numbers',
    );
    await expect(read(tiff(Int32Array.of(-5, 7)), 2, 7)).rejects.toThrow('holds values from -5 to 7');
    await expect(read(tiff(Int16Array.of(-5, 7)), 2, 7)).rejects.toThrow(
      'holds short numbers in the colour space grey16',
    );
    await expect(read(tiff(Float32Array.of(1)), 1, 0)).rejects.toThrow('A maximum of 0 is not possible.');
  });

  it('of several pages are named', async () => {
    const pages = await sharp(Buffer.from([...Array<number>(12).fill(9), ...Array<number>(12).fill(200)]), {
      raw: { width: 2, height: 4, channels: 3, pageHeight: 2 },
    })
      .tiff()
      .toBuffer();
    expect(await read(pages, 1)).toEqual({
      values: [9],
      notes: [
        'Images of several pages, of which only the first is read: 1 of 1 (f: 2). Write the other ' +
          'pages to files of their own.',
      ],
    });
  });
});

describe('a folder of images of 12 bits', () => {
  const lights = async (maximum: number): Promise<string> => {
    const folder = await temporaryFolder();
    for (const name of ['dark', 'light']) {
      await mkdir(join(folder, name));
      for (const i of [0, 1]) {
        const value = name === 'dark' ? 1 + i : maximum - i;
        await writeFile(join(folder, name, `${i}.tif`), tiff(Uint16Array.of(value)));
      }
    }
    return folder;
  };

  it('keeps the maximum for new images, in memory and on disk', async () => {
    const folder = await lights(4095);
    for (const onDisk of [false, true]) {
      const options = { size: [1, 1], channels: 1, seed: 1, onDisk } as const;
      await expect(imageFolder(folder, options)).rejects.toThrow('none is above 4095 of 65535');
      const { result } = await withNotes(() => imageFolder(folder, { ...options, maximum: 4095 }));
      expect(result.preprocessing?.steps).toEqual([
        { kind: 'images', height: 1, width: 1, channels: 1, fit: 'cover', maximum: 4095 },
      ]);
      const train = onDisk ? await loadDataset(result.train) : result.train;
      expect([...train.features]).toEqual([0, 0, 255, 255]);
    }
  });

  it('refuses a maximum without effect', async () => {
    const folder = await temporaryFolder();
    for (const name of ['a', 'b']) {
      await mkdir(join(folder, name));
      const image = sharp(Buffer.of(1, 2, 3), { raw: { width: 1, height: 1, channels: 3 } });
      await writeFile(join(folder, name, '0.png'), await image.png().toBuffer());
    }
    await expect(imageFolder(folder, { size: [1, 1], seed: 1, maximum: 4095 })).rejects.toThrow(
      'have 8 bits a value, so maximum: 4095 has no effect. Leave it out.',
    );
  });
});
