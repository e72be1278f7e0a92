import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownBatches } from '../../../../workers/data/batches.ts';
import { createDataset, createSplits, type Dataset, subset, take } from '../../../../workers/data/dataset.ts';
import { createSampler } from '../../../../workers/data/samplers.ts';
import { decodeSplits, encodeSplits } from '../../../../workers/data/share.ts';
import { openBatches } from '../../../../workers/data/streams/open-batches.ts';
import { createSourceDataset, loadDataset } from '../../../../workers/data/streams/source-dataset.ts';
import type { SampleSource } from '../../../../workers/data/streams/sources.ts';
import { arrayShards } from '../../../../workers/data/streams/shards.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-streams-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Ten samples of two bytes, in memory. */
const inMemory = createDataset({
  name: 'bytes',
  featureShape: [2],
  features: Uint8Array.from({ length: 20 }, (_, i) => i),
  targets: Int32Array.from({ length: 10 }, (_, i) => i % 3),
  classCount: 3,
  weights: Float32Array.from({ length: 10 }, (_, i) => i),
  normalization: { mean: [0.5], std: [0.25] },
});

/** The same from a source, which notes what is read. */
function onDisk(note: (indices: Int32Array) => void = () => undefined): Dataset {
  const { features: _, featureShape, length, ...others } = inMemory;
  const source: SampleSource = {
    length,
    featureShape,
    type: 'uint8',
    async read(indices) {
      note(indices);
      return Uint8Array.from([...indices].flatMap((index) => [2 * index, 2 * index + 1]));
    },
  };
  return createSourceDataset({ ...others, source });
}

const shuffled = createSampler({
  kind: 'shuffled',
  length: 10,
  batchSize: 3,
  dropLast: false,
  seed: 4,
  sharedSeed: 4,
  rank: 0,
  worldSize: 1,
});

describe('batches from a source', () => {
  const positions = [0, 1].flatMap((epoch) =>
    [...shuffled.batches(epoch)].map((indices, batch) => ({ indices, at: { epoch, batch, step: 4 * epoch + batch } })),
  );

  it('are those of samples in memory, also after a resume within an epoch', async () => {
    const own = ownBatches(inMemory);
    for (const from of [0, 2, 5]) {
      const batches = openBatches(onDisk());
      batches.follow?.(shuffled);
      for (const { indices, at } of positions.slice(from)) {
        expect(await batches.batch(indices, at)).toEqual(own.batch(indices));
      }
    }
  });

  it.each([0, 2])('are read ahead, three at most, from batch %d on', async (from) => {
    const reads: number[][] = [];
    const batches = openBatches(onDisk((indices) => reads.push([...indices])));
    batches.follow?.(shuffled);
    const own = positions.slice(from);
    for (const [i, { indices, at }] of own.slice(0, 3).entries()) {
      await batches.batch(indices, at);
      // The batch itself and three more, each read once, over the end of the epoch.
      expect(reads).toEqual(own.slice(0, i + 4).map((position) => [...position.indices]));
    }
  });

  it('report the error of a read when its batch comes', async () => {
    const [, second] = positions;
    const failing = onDisk((indices) => {
      if (indices.join() === second.indices.join()) throw new Error('The disk is gone.');
    });
    const batches = openBatches(failing);
    batches.follow?.(shuffled);
    await batches.batch(positions[0].indices, positions[0].at);
    await expect(Promise.resolve(batches.batch(second.indices, second.at))).rejects.toThrow('The disk is gone.');
  });

  it('refuse what a source must not return', async () => {
    const { source, ...others } = onDisk();
    const wrong = { ...(source as SampleSource), read: async () => new Uint8Array(1) };
    await expect(loadDataset(createSourceDataset({ ...others, source: wrong }))).rejects.toThrow(
      'Data set "bytes": read() of its source returned 1 values (Uint8Array) for 10 samples of shape [2]. ' +
        'Return 20 values of type uint8.',
    );
  });

  it('may be empty', async () => {
    const batch = await openBatches(onDisk()).batch(new Int32Array(0), { epoch: 0, batch: 0, step: 0 });
    expect(batch.featureShape).toEqual([0, 2]);
  });
});

describe('a data set on disk', () => {
  it('has parts, and can be loaded', async () => {
    const indices = Int32Array.of(7, 0, 3);
    expect(await loadDataset(subset(onDisk(), indices))).toEqual(subset(inMemory, indices));
    expect(await loadDataset(take(onDisk(), 4))).toEqual(subset(inMemory, Int32Array.of(0, 1, 2, 3)));
  });

  it('is not shared: other processes learn that they must open it', async () => {
    const bytes = Buffer.concat(encodeSplits(createSplits({ train: onDisk(), test: inMemory })));
    const { train, test } = decodeSplits(Buffer.from(new Uint8Array(bytes).buffer), 'data.bin');
    expect(test?.features).toEqual(inMemory.features);
    expect([train.length, train.targets, train.weights]).toEqual([10, inMemory.targets, inMemory.weights]);
    await expect(train.source?.read(Int32Array.of(0))).rejects.toThrow('this process has not opened them');
  });

  it('is refused where samples are needed in memory', () => {
    expect(() => ownBatches(onDisk())).toThrow('The samples of "bytes" are on disk, and this needs them in memory.');
  });
});

/** A `.npy` file of format 1. */
function npy(descr: string, shape: readonly number[], values: Uint8Array): Buffer {
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.join(', ')},), }`.padEnd(117) + '\n';
  const prefix = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, header.length, 0]);
  return Buffer.concat([prefix, Buffer.from(header, 'latin1'), values]);
}

describe('arrayShards', () => {
  const write = async (name: string, bytes: Buffer): Promise<string> => {
    await writeFile(join(folder, name), bytes);
    return join(folder, name);
  };

  it('reads samples of several files, in any order', async () => {
    const first = await write('0.npy', npy('<f4', [2, 2], new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer)));
    const second = await write('1.npy', npy('<f4', [1, 2], new Uint8Array(Float32Array.of(5, 6).buffer)));
    const source = await arrayShards([first, second]);
    expect([source.length, source.featureShape, source.type]).toEqual([3, [2], 'float32']);
    expect(await source.read(Int32Array.of(2, 0, 2, 1))).toEqual(Float32Array.of(5, 6, 1, 2, 5, 6, 3, 4));
  });

  it('reads raw files of a given shape', async () => {
    const file = await write('raw.bin', Buffer.from([1, 2, 3, 4, 5, 6]));
    const source = await arrayShards([file], { featureShape: [3], type: 'uint8' });
    expect(await source.read(Int32Array.of(1))).toEqual(Uint8Array.of(4, 5, 6));
    await expect(arrayShards([file], { featureShape: [4], type: 'uint8' })).rejects.toThrow(
      'raw.bin has 6 bytes, which are not whole samples of 4 bytes.',
    );
  });

  it('names the file that does not fit', async () => {
    const bytes = await write('b.npy', npy('|u1', [2, 2], Uint8Array.of(1, 2, 3, 4)));
    const other = await write('c.npy', npy('|u1', [1, 3], Uint8Array.of(1, 2, 3)));
    const double = await write('d.npy', npy('<f8', [1], new Uint8Array(8)));
    const short = await write('e.npy', npy('|u1', [2, 2], Uint8Array.of(1, 2, 3)));
    await expect(arrayShards([bytes, other])).rejects.toThrow(
      /c\.npy has samples of shape \[3\] and type uint8, .*b\.npy of shape \[2\]/,
    );
    await expect(arrayShards([double])).rejects.toThrow('d.npy holds an array of type <f8, shape (1).');
    await expect(arrayShards([short])).rejects.toThrow(
      /e\.npy is truncated or corrupt: it has 131 bytes, expected 132/,
    );
  });
});
