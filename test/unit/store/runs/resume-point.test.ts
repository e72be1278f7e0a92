import { cp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findResumePoint } from '../../../../src-main/store/runs/resume-point.ts';
import { saveState } from '../../../../workers/checkpoints/training-state.ts';
import { temporaryFolder } from '../fixtures.ts';

let folder = '';
const file = (rank: number, name: string): string => join(folder, 'state', `rank-${rank}`, name);

/** Two ranks with rounds 3 and 4; rank 0 is one step ahead. */
beforeEach(async () => {
  folder = await temporaryFolder();
  for (const rank of [0, 1]) {
    for (const round of [3, 4]) {
      const weights = { name: 'w', dtype: 'F32' as const, shape: [2], data: new Float32Array([rank, round]) };
      await saveState(folder, rank, {
        round,
        epoch: round,
        step: round * 10 - rank,
        attempt: 1,
        metricRows: null,
        tensors: [weights],
        data: null,
      });
    }
  }
});

async function flipLastBit(path: string): Promise<void> {
  const content = await readFile(path);
  content[content.length - 1] ^= 1;
  await writeFile(path, content);
}

/** Damages of the newest state of rank 1, and what the message names. */
const damages: [name: string, damage: () => Promise<void>, named: string][] = [
  ['has another bit', () => flipLastBit(file(1, 'round-4.safetensors')), 'round-4.safetensors'],
  ['is cut short', () => writeFile(file(1, 'round-4.safetensors'), 'short'), 'round-4.safetensors'],
  ['is missing', () => rm(file(1, 'round-4.safetensors')), 'round-4.safetensors'],
  ['has an empty record', () => writeFile(file(1, 'round-4.json'), ''), 'round-4.json'],
  ['has a record of something else', () => writeFile(file(1, 'round-4.json'), '{"round":4}'), 'round-4.json'],
];

describe('findResumePoint', () => {
  it('is the newest round of all ranks, at the position of the rank that is furthest ahead', async () => {
    expect(await findResumePoint(folder, [0, 1])).toEqual({
      round: 4,
      worldSize: null,
      epoch: 4,
      step: 40,
      attempt: 1,
      metricRows: null,
      damages: [],
    });
    expect(await findResumePoint(folder, [1])).toMatchObject({ round: 4, step: 39 });
    await rm(file(1, 'round-4.json'));
    expect(await findResumePoint(folder, [0, 1])).toMatchObject({ round: 3, step: 30, damages: [] });
    expect(await findResumePoint(folder, [0, 1, 2])).toBeNull();
  });

  it('is a round that another number of ranks has saved, if all of these did', async () => {
    const save = (rank: number, round: number, worldSize: number) =>
      saveState(folder, rank, {
        round,
        worldSize,
        epoch: round,
        step: 10 * round,
        attempt: 1,
        metricRows: null,
        tensors: [],
        data: null,
      });
    for (const rank of [0, 1, 2]) await save(rank, 5, 3);
    for (const ranks of [[0], [0, 1], [0, 1, 2, 3]]) {
      expect(await findResumePoint(folder, ranks)).toMatchObject({ round: 5, worldSize: 3, step: 50, damages: [] });
    }
    // Of two ranks that continue from there, one has saved.
    await save(0, 6, 2);
    expect(await findResumePoint(folder, [0, 1])).toMatchObject({ round: 5, worldSize: 3 });
    await save(1, 6, 2);
    expect(await findResumePoint(folder, [0, 1, 2])).toMatchObject({ round: 6, worldSize: 2 });
    await rm(file(1, 'round-6.safetensors'));
    const point = await findResumePoint(folder, [0, 1]);
    expect(point).toMatchObject({ round: 5, worldSize: 3, damages: [expect.stringContaining('round-6.safetensors')] });
  });

  it.each(damages)('is the older round if the newest state of one rank %s', async (_name, damage, named) => {
    await damage();
    const point = await findResumePoint(folder, [0, 1]);
    expect(point).toMatchObject({ round: 3, step: 30, damages: [expect.stringContaining(file(1, named))] });
    expect(await findResumePoint(folder, [0])).toMatchObject({ round: 4, damages: [] });
  });

  it('accepts the data that a crash left under its temporary name', async () => {
    await rename(file(1, 'round-4.safetensors'), file(1, 'round-4.safetensors.next'));
    await cp(file(1, 'round-3.safetensors'), file(1, 'round-4.safetensors'));
    expect(await findResumePoint(folder, [0, 1])).toMatchObject({ round: 4, damages: [] });
  });

  it('never begins again from the start because all states are damaged', async () => {
    for (const round of [3, 4]) await flipLastBit(file(1, `round-${round}.safetensors`));
    await expect(findResumePoint(folder, [0, 1])).rejects.toThrow(/round-4[^]*round-3[^]*Restore one of them/);
  });
});
