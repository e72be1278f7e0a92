import { execFileSync } from 'node:child_process';
import { mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { cifar10 } from '../../../workers/data/sources/cifar10.ts';
import { type Dataset, gatherBatch } from '../../../workers/data/dataset.ts';
import { samples } from '../../samples/samples.ts';
import { temporaryFolder } from './temp-folder.ts';

/** A record with pixels p: (p mod 256, label, 255 - p mod 256). */
function record(label: number): Buffer {
  const planes = Buffer.alloc(3072);
  for (let pixel = 0; pixel < 1024; pixel++) {
    planes[pixel] = pixel % 256;
    planes[1024 + pixel] = label;
    planes[2048 + pixel] = 255 - (pixel % 256);
  }
  return Buffer.concat([Buffer.of(label), planes]);
}

const records = (...labels: number[]) => Buffer.concat(labels.map(record));

async function folderWith(files: Record<string, Buffer>, subfolder = ''): Promise<string> {
  const root = await temporaryFolder();
  const folder = join(root, subfolder);
  await mkdir(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return root;
}

const read = (lookup: string) => cifar10({ lookup, cache: '/nonexistent' });

describe('cifar10 from batch files', () => {
  const files = {
    'data_batch_2.bin': records(7),
    'data_batch_1.bin': records(3, 9),
    'test_batch.bin': records(0),
  };

  it('joins the available batches and reports the number of images', async () => {
    const { train, test } = await read(await folderWith(files));
    expect(train).toMatchObject({ name: 'CIFAR-10 (3 of 50,000 images)', length: 3, featureShape: [32, 32, 3] });
    expect(train.targets).toEqual(Int32Array.of(3, 9, 7));
    expect(test?.name).toBe('CIFAR-10 test (1 of 10,000 images)');
    expect(train.classNames?.[9]).toBe('truck');
  });

  it('interleaves the planes', async () => {
    const { train } = await read(await folderWith(files));
    expect([...train.features.subarray(3072, 3078)]).toEqual([0, 9, 255, 1, 9, 254]);
    expect([...train.features.subarray(3072 - 3, 3072)]).toEqual([255, 3, 0]);
    const { features } = gatherBatch(train, Int32Array.of(1));
    expect(features[1]).toBeCloseTo((9 / 255 - 0.4822) / 0.2435, 6);
  });

  it.each(['cifar10', 'cifar-10-batches-bin', 'cifar10/cifar-10-batches-bin'])(
    'finds them in %s',
    async (subfolder) => {
      expect((await read(await folderWith(files, subfolder))).train.length).toBe(3);
    },
  );

  it('works without a test batch', async () => {
    expect((await read(await folderWith({ 'data_batch_5.bin': records(1) }))).test).toBeUndefined();
  });

  it('refuses an incomplete record', async () => {
    const folder = await folderWith(files);
    await truncate(join(folder, 'data_batch_1.bin'), 3073 + 100);
    await expect(read(folder)).rejects.toThrow(
      `${join(folder, 'data_batch_1.bin')} is truncated or corrupt: it has 3,173 bytes, which are not ` +
        'one or more records of 3073',
    );
  });

  it('refuses a label above 9', async () => {
    const folder = await folderWith({ 'data_batch_1.bin': records(3, 10) });
    await expect(read(folder)).rejects.toThrow('record 1 (byte 3073) has label 10, labels are 0 to 9');
  });
});

/** GNU tar's archive of a folder like the official one. */
async function archiveOf(files: Record<string, Buffer>, ...options: string[]): Promise<Buffer> {
  const folder = await folderWith(files, 'cifar-10-batches-bin');
  const tar = join(folder, 'archive.tar.gz');
  execFileSync('tar', ['-czf', tar, ...options, '-C', folder, 'cifar-10-batches-bin']);
  return readFile(tar);
}

describe('cifar10 from the archive', () => {
  const name = 'cifar-10-binary.tar.gz';
  const files = {
    'readme.html': Buffer.from('<p>not a batch</p>'),
    'data_batch_1.bin': records(3, 9),
    'data_batch_2.bin': records(7),
    'test_batch.bin': records(0),
  };

  it.each(['ustar', 'gnu', 'posix'])("reads tar's %s format", async (format) => {
    const lookup = await folderWith({ [name]: await archiveOf(files, `--format=${format}`) });
    const { train, test } = await read(lookup);
    expect(train.targets).toEqual(Int32Array.of(3, 9, 7));
    expect([...train.features.subarray(3072, 3078)]).toEqual([0, 9, 255, 1, 9, 254]);
    expect(test?.targets).toEqual(Int32Array.of(0));
  });

  it('refuses a truncated archive, compressed or not', async () => {
    const archive = await archiveOf(files);
    const cut = await folderWith({ [name]: archive.subarray(0, archive.length - 20) });
    await expect(read(cut)).rejects.toThrow(`${join(cut, name)} is truncated or corrupt: unexpected end of file`);
    const cutInside = await folderWith({ [name]: gzipSync(gunzipSync(archive).subarray(0, 5000)) });
    await expect(read(cutInside)).rejects.toThrow('bytes early, after byte');
  });

  it('refuses a header with a wrong checksum', async () => {
    const tar = gunzipSync(await archiveOf(files));
    tar[600] ^= 1;
    const lookup = await folderWith({ [name]: gzipSync(tar) });
    await expect(read(lookup)).rejects.toThrow('no valid tar header at byte 512: checksum');
  });

  it('refuses an archive without batches', async () => {
    const lookup = await folderWith({ [name]: await archiveOf({ 'readme.html': Buffer.from('hello') }) });
    await expect(read(lookup)).rejects.toThrow('it holds none of data_batch_1.bin');
  });
});

describe('real images of CIFAR-10, one per class', () => {
  /** Means of the channels, over all pixels and over the upper left quadrants. */
  function means({ features }: Dataset): { all: number[]; upperLeft: number[] } {
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const channels = [0, 1, 2].map((channel) => Array.from(features).filter((_, i) => i % 3 === channel));
    const isUpperLeft = (_: number, pixel: number) => Math.floor(pixel / 32) % 32 < 16 && pixel % 32 < 16;
    return { all: channels.map(mean), upperLeft: channels.map((bytes) => mean(bytes.filter(isUpperLeft))) };
  }

  it("have numpy's means by channel and by quadrant", async () => {
    const { train, test } = await read(samples);
    expect(train.name).toBe('CIFAR-10 (10 of 50,000 images)');
    expect(test?.name).toBe('CIFAR-10 test (10 of 10,000 images)');
    expect([...train.targets]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // Printed by make_samples.py. A wrong order of planes, rows or columns would change them.
    const close = (values: number[]) => values.map((value) => expect.closeTo(value, 9));
    expect(means(train)).toEqual({
      all: close([130.71171875, 129.340625, 118.47109375]),
      upperLeft: close([125.525, 124.383984375, 113.76796875]),
    });
    expect(test && means(test)).toEqual({
      all: close([128.70947265625, 135.4736328125, 139.92744140625]),
      upperLeft: close([137.275, 144.680078125, 150.340625]),
    });
  });
});
