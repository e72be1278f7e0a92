import { readFile, truncate, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as reader from '../../../../src-main/store/runs/safetensors-reader.ts';
import { createDataset } from '../../../../workers/data/dataset.ts';
import { parseTable } from '../../../../workers/data/tables/read-table.ts';
import { tableSplits } from '../../../../workers/data/tables/table-splits.ts';
import { RunFiles } from '../../../../workers/member/run-files.ts';
import { temporaryFolder } from '../fixtures.ts';

/** The most bytes that one read returns, and where the file ends for it. */
const disk = vi.hoisted(() => ({ mostBytes: Infinity, endBytes: Infinity }));

function limitReads(mostBytes: number, endBytes: number): void {
  Object.assign(disk, { mostBytes, endBytes });
}

vi.mock(import('node:fs/promises'), async (load) => {
  const own = await load();
  return {
    ...own,
    async open(...parameters: Parameters<typeof own.open>) {
      const handle = await own.open(...parameters);
      const read = handle.read.bind(handle);
      const limited = (target: Uint8Array, offset: number, length: number, position: number) =>
        read(target, offset, Math.max(0, Math.min(length, disk.mostBytes, disk.endBytes - position)), position);
      return Object.assign(handle, { read: limited });
    },
  };
});

afterEach(() => limitReads(Infinity, Infinity));

const readTensors = (path: string) => reader.readTensors(dirname(path), basename(path));
const readTensorMetadata = (path: string) => reader.readTensorMetadata(dirname(path), basename(path));

/** Targets of a split as a worker stores them. */
async function keepTargets(dataset: ReturnType<typeof createDataset>) {
  const folder = await temporaryFolder();
  await new RunFiles(folder, 0).saveTargets({ train: dataset, test: dataset });
  return join(folder, 'predictions', 'test', 'targets.safetensors');
}

const curve = createDataset({
  name: 'curve',
  featureShape: [1],
  features: Float32Array.of(0.5, 1.5, 2.5),
  targets: Float32Array.of(1, Number.NaN, 3),
});

describe('what workers store of a split, as the hub reads it', () => {
  it('has the single feature of each sample', async () => {
    const { tensors } = await readTensors(await keepTargets(curve));
    expect(Object.fromEntries(tensors)).toEqual({
      targets: { shape: [3], data: curve.targets },
      feature: { shape: [3], data: curve.features },
    });
  });

  it('has labels and class names, and no feature where there are several', async () => {
    const path = await keepTargets(
      createDataset({
        name: 'plane',
        featureShape: [2],
        features: new Float32Array(4),
        targets: Int32Array.of(1, 0),
        classNames: ['left', 'right'],
      }),
    );
    const { tensors, metadata } = await readTensors(path);
    expect(Object.fromEntries(tensors)).toEqual({ targets: { shape: [2], data: Int32Array.of(1, 0) } });
    expect(metadata).toEqual({ class_names: '["left","right"]' });
    expect(await readTensorMetadata(path)).toEqual(metadata);
  });

  it('has the names of targets that are values', async () => {
    const folder = await temporaryFolder();
    const table = await parseTable(Buffer.from('x,height,mass\n1,2,3\n2,3,4\n3,4,5\n4,5,6\n'), 'd.csv');
    await new RunFiles(folder, 0).saveTargets(tableSplits(table, { seed: 1, target: ['height', 'mass'], test: 2 }));
    const { metadata } = await readTensors(join(folder, 'predictions', 'test', 'targets.safetensors'));
    expect(metadata).toEqual({ target_names: '["height","mass"]' });
  });

  it('has several targets per sample, by row', async () => {
    const { tensors } = await readTensors(await keepTargets(createDataset({ ...curve, targets: new Float32Array(6) })));
    expect(tensors.get('targets')?.shape).toEqual([3, 2]);
  });

  it.each([0, 7, 8, 40, -4])('is reported when it is truncated to %i bytes', async (bytes) => {
    const path = await keepTargets(curve);
    const { length } = await readFile(path);
    await truncate(path, bytes < 0 ? length + bytes : bytes);
    await expect(readTensors(path)).rejects.toThrow(`${path} is not a valid safetensors file of predictions`);
  });

  it('is reported when it is another file or missing', async () => {
    const path = join(await temporaryFolder(), 'x.safetensors');
    await expect(readTensors(path)).rejects.toThrow('does not exist');
    await writeFile(path, 'epoch,step,val/ens_nll\n0,1,0.5\n');
    await expect(readTensors(path)).rejects.toThrow('is not a valid safetensors file of predictions');
  });
});

describe('reads that return less than was requested', () => {
  const features = Float32Array.from({ length: 50 }, (_, index) => index / 3);
  const dataset = createDataset({ name: 'curve', featureShape: [1], features, targets: features.toReversed() });

  it('are repeated until the tensor is complete', async () => {
    const path = await keepTargets(dataset);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 300 }), async (mostBytes) => {
        limitReads(mostBytes, Infinity);
        const { tensors } = await readTensors(path);
        expect(tensors.get('feature')?.data).toEqual(features);
        expect(tensors.get('targets')?.data).toEqual(features.toReversed());
      }),
      { seed: 11, numRuns: 20 },
    );
  });

  it('end in an error where the file was truncated after its size was read', async () => {
    const path = await keepTargets(dataset);
    const { length } = await readFile(path);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: length - 1 }), async (endBytes) => {
        limitReads(64, endBytes);
        await expect(readTensors(path)).rejects.toThrow(
          new RegExp(`${path} is not a valid safetensors file of predictions: it was truncated while it was read`),
        );
      }),
      { seed: 11, numRuns: 20 },
    );
  });
});
