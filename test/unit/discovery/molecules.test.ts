import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { fingerprintsInThreads, moleculeFingerprints } from '../../../workers/data/molecules/fingerprints.ts';
import { moleculeDataset } from '../../../workers/data/molecules/molecule-dataset.ts';
import { readGolden } from '../../golden/read-golden.ts';

/** What RDKit computes from Python; `make_fingerprints.py` beside it records it. */
const recorded = z
  .array(
    z.object({
      smiles: z.string(),
      isValid: z.boolean(),
      r2: z.array(z.int()).optional(),
      r3: z.array(z.int()).optional(),
    }),
  )
  .parse(readGolden('discovery/fingerprints.json'));
const smiles = recorded.map((own) => own.smiles);

let cache = '';
beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'tutti-fingerprints-'));
});
afterAll(() => rm(cache, { recursive: true }));

function bitsOf(packed: Uint8Array, index: number, bytes: number): number[] {
  const own = packed.subarray(index * bytes, (index + 1) * bytes);
  return Array.from({ length: bytes * 8 }, (_, bit) => bit).filter((bit) => (own[bit >> 3] >> (bit & 7)) & 1);
}

test.each([
  { radius: 2, bits: 1024, key: 'r2' as const },
  { radius: 3, bits: 2048, key: 'r3' as const },
])('fingerprints of radius $radius are those of RDKit in Python', async ({ radius, bits, key }) => {
  const { packed, isValid } = await moleculeFingerprints(smiles, { folders: { cache }, radius, bits });
  recorded.forEach((own, index) => {
    expect(isValid[index] === 1, own.smiles).toBe(own.isValid);
    expect(bitsOf(packed, index, bits / 8), own.smiles).toEqual(own[key] ?? []);
  });
});

test('threads give the same, in the order of the blocks', async () => {
  const shape = { radius: 2, bits: 1024 };
  const blocks = [smiles.slice(0, 5), smiles.slice(5, 6), smiles.slice(6)];
  const done = await fingerprintsInThreads(blocks, shape);
  const { packed, isValid } = await moleculeFingerprints(smiles, { folders: { cache } });
  expect(Buffer.concat(done.map((own) => own.packed)).equals(packed)).toBe(true);
  expect(Buffer.concat(done.map((own) => own.isValid)).equals(isValid)).toBe(true);
});

test('a cached file is read again, and computed anew where it is damaged', async () => {
  const own = join(cache, 'own');
  const options = { folders: { cache: own } };
  const first = await moleculeFingerprints(smiles, options);
  const [name] = await readdir(join(own, 'fingerprints'));
  const path = join(own, 'fingerprints', name);
  expect(await moleculeFingerprints(smiles, options)).toEqual(first);
  const bytes = await readFile(path);
  bytes[bytes.length - 1] ^= 1;
  await writeFile(path, bytes);
  expect(await moleculeFingerprints(smiles, options)).toEqual(first);
  await moleculeFingerprints(smiles.slice(1), options);
  expect(await readdir(join(own, 'fingerprints'))).toHaveLength(2);
});

test('a data set leaves out texts that are no SMILES, and names their rows', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const targets = Int32Array.of(1, 0, 1);
  const { dataset, pool } = await moleculeDataset({
    name: 'own',
    smiles: ['CCO', 'C(C', 'C#N'],
    targets,
    folders: { cache },
    classCount: 2,
  });
  expect(pool).toEqual({
    texts: { smiles: ['CCO', 'C#N'] },
    excluded: ['Row 2 of "own" is no SMILES that RDKit reads: "C(C".'],
  });
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('1 of 3 molecules are left out:\nRow 2'));
  expect([...dataset.targets]).toEqual([1, 1]);
  const set = [...dataset.features.subarray(0, 1024)].flatMap((byte, bit) => (byte === 255 ? [bit] : []));
  expect(set).toEqual(recorded.find((own) => own.smiles === 'CCO')?.r2);
  expect(new Set(dataset.features)).toEqual(new Set([0, 255]));
  await expect(
    moleculeDataset({ name: 'own', smiles: ['('], targets: Int32Array.of(1), folders: { cache } }),
  ).rejects.toThrow('None of the 1 texts');
  await expect(moleculeDataset({ name: 'own', smiles: ['C'], targets, folders: { cache } })).rejects.toThrow(
    'has 1 SMILES and 3 targets',
  );
  warn.mockRestore();
});

test('a radius or a length that is not possible is refused', async () => {
  await expect(moleculeFingerprints(['C'], { folders: { cache }, bits: 1001 })).rejects.toThrow(
    'give a whole radius from 0 to 10 and a multiple of 8 bits',
  );
});
