import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readIdx } from '../../../workers/data/sources/idx.ts';
import { mnist } from '../../../workers/data/sources/mnist.ts';
import { samples } from '../../samples/samples.ts';
import { temporaryFolder } from './temp-folder.ts';

/** An IDX file of unsigned bytes. */
function idx(shape: number[], values: number[]): Buffer {
  const header = Buffer.alloc(4 + 4 * shape.length);
  header.writeUInt32BE(0x0800 + shape.length);
  shape.forEach((dimension, axis) => header.writeUInt32BE(dimension, 4 + 4 * axis));
  return Buffer.concat([header, Buffer.from(values)]);
}

async function written(content: Buffer): Promise<string> {
  const file = join(await temporaryFolder(), 'values-idx');
  await writeFile(file, content);
  return file;
}

afterEach(() => vi.unstubAllGlobals());

describe('readIdx', () => {
  it('reads plain and compressed files', async () => {
    const content = idx([2, 1, 3], [1, 2, 3, 4, 5, 255]);
    for (const stored of [content, gzipSync(content)]) {
      const { shape, values } = await readIdx(await written(stored), 3);
      expect(shape).toEqual([2, 1, 3]);
      expect([...values]).toEqual([1, 2, 3, 4, 5, 255]);
    }
  });

  const intact = idx([4], [1, 2, 3, 4]);
  it.each([
    ['truncated', intact.subarray(0, -1), 'it has 11 bytes unpacked; 12 are expected for its shape [4]'],
    ['too long', Buffer.concat([intact, intact]), 'it has 24 bytes unpacked; 12 are expected'],
    ['of other dimensions', idx([2, 2], [1, 2, 3, 4]), 'it begins with 0x00000802'],
    ['of another type', Buffer.from('000009010000000101', 'hex'), 'it begins with 0x00000901'],
    ['shorter than its header', intact.subarray(0, 6), 'it has 6 bytes, its header alone takes 8'],
    ['empty', Buffer.alloc(0), 'it has 0 bytes'],
    ['cut while compressed', gzipSync(intact).subarray(0, -9), 'cannot be unpacked (unexpected end of file)'],
  ])('refuses a file that is %s', async (_, content, finding) => {
    const file = await written(content);
    await expect(readIdx(file, 1)).rejects.toThrow(`${file} is truncated or corrupt: `);
    await expect(readIdx(file, 1)).rejects.toThrow(finding);
    await expect(readIdx(file, 1)).rejects.toThrow('Delete it, and it is downloaded again');
  });

  it('refuses a compressed file with a changed byte', async () => {
    const compressed = gzipSync(idx([4], [1, 2, 3, 4]));
    compressed[compressed.length - 8] ^= 1;
    await expect(readIdx(await written(compressed), 1)).rejects.toThrow('incorrect data check');
  });
});

describe('mnist', () => {
  /** A folder with a training set of two 2x2 images and a test set of one. */
  async function tinyFolder(trainingLabels = [3, 9]): Promise<string> {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'train-images-idx3-ubyte'), idx([2, 2, 2], [0, 255, 0, 0, 1, 2, 3, 4]));
    await writeFile(join(folder, 'train-labels-idx1-ubyte.gz'), gzipSync(idx([trainingLabels.length], trainingLabels)));
    await mkdir(join(folder, 'mnist'));
    await writeFile(join(folder, 'mnist', 't10k-images-idx3-ubyte'), idx([1, 2, 2], [9, 9, 9, 9]));
    await writeFile(join(folder, 'mnist', 't10k-labels-idx1-ubyte'), idx([1], [5]));
    return folder;
  }

  it('finds files, compressed or not, in the folder or its subfolder', async () => {
    const { train, test, validation } = await mnist({ lookup: await tinyFolder(), cache: '/nonexistent' });
    expect(train).toMatchObject({ name: 'MNIST', length: 2, featureShape: [2, 2, 1], classCount: 10 });
    expect([...train.features]).toEqual([0, 255, 0, 0, 1, 2, 3, 4]);
    expect(train.targets).toEqual(Int32Array.of(3, 9));
    expect([test?.length, validation]).toEqual([1, undefined]);
  });

  it('finds files in the cache if there is no user folder', async () => {
    expect((await mnist({ lookup: null, cache: await tinyFolder() })).train.length).toBe(2);
  });

  it('refuses images and labels that do not belong together', async () => {
    const lookup = await tinyFolder([1, 2, 3]);
    await expect(mnist({ lookup, cache: lookup })).rejects.toThrow(/holds 2 images, .* 3 labels/);
  });

  it('refuses labels above 9', async () => {
    const lookup = await tinyFolder([1, 10]);
    await expect(mnist({ lookup, cache: lookup })).rejects.toThrow('sample 1 has label 10');
  });

  it('offline, names which file to put where', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed', { cause: new Error('ENOTFOUND') })));
    const [lookup, cache] = [await temporaryFolder(), await temporaryFolder()];
    const failure = mnist({ lookup, cache });
    await expect(failure).rejects.toThrow('train-images-idx3-ubyte.gz: fetch failed: ENOTFOUND');
    await expect(failure).rejects.toThrow(
      `Put train-images-idx3-ubyte.gz (9,912,422 bytes) into ${lookup}/mnist (TUTTI_DATA is ${lookup}), ` +
        `or into ${cache}/mnist.`,
    );
    await expect(mnist({ lookup: null, cache })).rejects.toThrow(
      'into the subfolder mnist of a folder that you name in TUTTI_DATA',
    );
  });
});

/** Mean of bytes divided by 255. */
const ink = (bytes: ArrayLike<number>): number =>
  Array.from(bytes).reduce((sum, byte) => sum + byte, 0) / bytes.length / 255;

describe("the first 1,200 images of MNIST's test set", () => {
  it("have the known first labels and numpy's counts and means", async () => {
    const { train, test } = await mnist({ lookup: samples, cache: '/nonexistent', files: 't10k' });
    expect(test).toBeUndefined();
    expect(train).toMatchObject({ name: 'MNIST t10k', length: 1200, featureShape: [28, 28, 1] });
    expect([...train.targets.subarray(0, 10)]).toEqual([7, 2, 1, 0, 4, 1, 4, 9, 5, 9]);
    // Printed by make_samples.py.
    const counts = Array.from({ length: 10 }, (_, digit) => train.targets.filter((label) => label === digit).length);
    expect(counts).toEqual([100, 148, 134, 126, 136, 107, 105, 124, 107, 113]);
    const inUpperLeft = train.features.filter((_, i) => Math.floor(i / 28) % 28 < 14 && i % 28 < 14);
    expect(ink(train.features)).toBeCloseTo(0.1221984252034147, 12);
    expect(ink(inUpperLeft)).toBeCloseTo(0.10302005802320928, 12);
  });

  it('are refused when truncated', async () => {
    const folder = await temporaryFolder();
    const [images, labels] = ['t10k-images-idx3-ubyte.gz', 't10k-labels-idx1-ubyte.gz'];
    await copyFile(join(samples, 'mnist', labels), join(folder, labels));
    const content = await readFile(join(samples, 'mnist', images));
    await writeFile(join(folder, images), content.subarray(0, 100_000));
    const source = { lookup: folder, cache: folder, files: 't10k' as const };
    await expect(mnist(source)).rejects.toThrow(`${join(folder, images)} is truncated or corrupt: its 100,000 bytes`);
    await writeFile(join(folder, images), gunzipSync(content).subarray(0, 940_800));
    await expect(mnist(source)).rejects.toThrow('it has 940,800 bytes unpacked; 940,816 are expected');
  });
});
