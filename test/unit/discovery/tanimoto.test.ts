import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { packBits, type PoolFeatures, rowOf, squaredDistance } from '../../../core/discovery/distances.ts';
import { chooseCentres } from '../../../core/discovery/acquire.ts';
import { chooseClusters } from '../../../core/discovery/k-means.ts';
import { Generator } from '../../../core/random/generator.ts';
import { moleculeDataset } from '../../../workers/data/molecules/molecule-dataset.ts';
import { readGolden } from '../../golden/read-golden.ts';
import { all } from './recorded.ts';

/** What RDKit computes from Python; `make_tanimoto.py` beside it records it. */
const numbers = z.array(z.number());
const recorded = z
  .object({
    smiles: z.array(z.string()),
    similarity: numbers,
    centres: numbers,
    nearestOfPicks: z.number(),
    numbers: z.object({ width: z.number(), values: numbers, similarity: numbers }),
  })
  .parse(readGolden('discovery/tanimoto.json'));
const count = recorded.smiles.length;

let cache = '';
let bytes = new Uint8Array(0);
let prints: PoolFeatures;
beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'tutti-tanimoto-'));
  const targets = new Float32Array(count);
  const { dataset } = await moleculeDataset({ name: 'own', smiles: recorded.smiles, targets, folders: { cache } });
  bytes = Uint8Array.from(dataset.features);
  prints = { width: 1024, values: packBits(bytes, 1024) ?? bytes, isPacked: true, distance: 'tanimoto' };
});
afterAll(() => rm(cache, { recursive: true }));

test('distances of fingerprints are one minus the similarities of RDKit', () => {
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) {
      const expected = (1 - recorded.similarity[i * count + j]) ** 2;
      expect(squaredDistance(prints, i, rowOf(prints, j))).toBeCloseTo(expected, 12);
    }
  }
});

test('centres are the molecules that the MaxMinPicker of RDKit picks', () => {
  expect([...chooseCentres(prints, all(count), recorded.centres.length)]).toEqual(recorded.centres);
  const distances = recorded.centres.flatMap((i, at) =>
    recorded.centres.slice(0, at).map((j) => Math.sqrt(squaredDistance(prints, i, rowOf(prints, j)))),
  );
  expect(Math.min(...distances)).toBeCloseTo(recorded.nearestOfPicks, 12);
});

test('distances of numbers are those of the formula in NumPy', () => {
  const { width, values, similarity } = recorded.numbers;
  const features: PoolFeatures = { width, values: Float32Array.from(values), distance: 'tanimoto' };
  similarity.forEach((own, at) => {
    const [i, j] = [Math.floor(at / 6), at % 6];
    expect(squaredDistance(features, i, rowOf(features, j))).toBeCloseTo((1 - own) ** 2, 6);
  });
});

test('bits that two rows share decide, not those that neither has: Euclidean and Tanimoto distances pick others', () => {
  // Of eight bits: a small molecule, one without a common bit, and a large one with one bit more than another large
  // one.
  const rows = [0b00000001, 0b00000010, 0b11111100, 0b11111101];
  const own = Uint8Array.from(rows.flatMap((row) => Array.from({ length: 8 }, (_, bit) => ((row >> bit) & 1) * 255)));
  const packed = { width: 8, values: packBits(own, 8) ?? own, isPacked: true };
  expect(squaredDistance({ ...packed, distance: 'tanimoto' }, 0, rowOf(packed, 1))).toBe(1);
  expect(squaredDistance({ ...packed, distance: 'euclidean' }, 0, rowOf(packed, 1))).toBe(2);
  expect(squaredDistance({ ...packed, distance: 'tanimoto' }, 2, rowOf(packed, 3))).toBeCloseTo((1 / 7) ** 2, 12);
  expect([...chooseCentres({ ...packed, distance: 'euclidean' }, all(4), 3)]).toEqual([0, 2, 1]);
  expect([...chooseCentres({ ...packed, distance: 'tanimoto' }, all(4), 3)]).toEqual([0, 1, 2]);
});

test('two rows of zeros are equal', () => {
  const zeros: PoolFeatures = { width: 2, values: new Float32Array(4), distance: 'tanimoto' };
  expect(squaredDistance(zeros, 0, rowOf(zeros, 1))).toBe(0);
});

test('clusters take the best molecule of each group of equal ones', () => {
  const groups = [3, 3, 3, 12, 12, 12, 20, 20];
  const values = Uint8Array.from(groups.flatMap((i) => [...bytes.subarray(i * 1024, (i + 1) * 1024)]));
  const features: PoolFeatures = { ...prints, values: packBits(values, 1024) ?? values };
  const shortlist = Int32Array.of(4, 7, 0, 1, 3, 2, 6, 5);
  expect([...chooseClusters(features, shortlist, 3, new Generator(2, 'round'))]).toEqual([4, 7, 0]);
});

test('bytes other than 0 and 255 are no bits; rows begin at whole words', () => {
  expect(packBits(Uint8Array.of(0, 255, 128), 3)).toBeNull();
  const packed = packBits(Uint8Array.of(255, 0, 255, 0, 255, 255), 3);
  expect(packed).toEqual(Uint8Array.of(0b101, 0, 0, 0, 0b110, 0, 0, 0));
  expect(rowOf({ width: 3, values: packed ?? new Uint8Array(0), isPacked: true }, 1)).toEqual(Uint8Array.of(0, 1, 1));
});
