import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { realNumber } from '../../../core/protocol/wire/numbers.ts';
import type { NamedTensor } from '../../../core/safetensors/safetensors.ts';
import { findResumePoint } from '../../../src-main/store/runs/resume-point.ts';
import { loadState, saveState } from '../../../workers/checkpoints/training-state.ts';

let run: string;
beforeEach(async () => {
  run = await mkdtemp(join(tmpdir(), 'tutti-state-'));
});
afterEach(() => rm(run, { recursive: true }));

function counter(value: number): NamedTensor[] {
  return [{ name: 'generator/counter', dtype: 'I64', shape: [1], data: new BigInt64Array([BigInt(value)]) }];
}

async function save(rank: number, round: number): Promise<void> {
  await saveState(run, rank, {
    round,
    epoch: round,
    step: round * 7,
    attempt: 1,
    metricRows: null,
    tensors: counter(round),
    data: { round },
  });
}

const newestRound = async (ranks: number[]) => (await findResumePoint(run, ranks))?.round ?? null;

async function filesOf(rank: number): Promise<string[]> {
  return readdir(join(run, 'state', `rank-${rank}`));
}

describe('training state', () => {
  it('restores position, tensors and data, with NaN and infinities through realNumber', async () => {
    const data = { order: [2, 0, 1], best: Infinity };
    await saveState(run, 0, { round: 4, epoch: 2, step: 99, attempt: 2, metricRows: 7, tensors: counter(12), data });
    const state = await loadState(run, 0, 4);
    expect(state).toEqual({
      round: 4,
      epoch: 2,
      step: 99,
      attempt: 2,
      metricRows: 7,
      tensors: counter(12),
      data: { order: [2, 0, 1], best: 'Infinity' },
    });
    expect(realNumber.parse('Infinity')).toBe(Infinity);
  });

  it('keeps the newest two rounds by numerical order', async () => {
    for (const round of [8, 9, 10, 11]) await save(0, round);
    expect(await filesOf(0)).toEqual([
      'round-10.json',
      'round-10.safetensors',
      'round-11.json',
      'round-11.safetensors',
    ]);
  });

  it('of ranks that crashed between two saves is the previous, common round', async () => {
    for (const round of [1, 2, 3]) await save(0, round);
    for (const round of [1, 2]) await save(1, round);
    expect(await newestRound([0, 1])).toBe(2);
    expect(await newestRound([0])).toBe(3);
    expect(await newestRound([0, 1, 2])).toBeNull();
    expect(await newestRound([])).toBeNull();
  });

  it('ignores a round without its record', async () => {
    for (const round of [1, 2]) await save(0, round);
    await rm(join(run, 'state', 'rank-0', 'round-2.json'));
    expect(await newestRound([0])).toBe(1);
  });

  it('drops rounds later than the one resumed from, so that they do not displace those of the new attempt', async () => {
    for (const round of [4, 5, 6]) await save(0, round);
    for (const round of [4, 5]) await save(1, round);
    for (const rank of [0, 1]) await loadState(run, rank, 5);
    await save(0, 8);
    // Rank 1 crashed before its round 8.
    expect(await newestRound([0, 1])).toBe(5);
  });

  it('reports the damage', async () => {
    await save(0, 1);
    const path = join(run, 'state', 'rank-0', 'round-1.safetensors');
    const bytes = await readFile(path);
    bytes[20] = 0;
    await writeFile(path, bytes);
    await expect(loadState(run, 0, 1)).rejects.toThrow(/round-1\.safetensors does not match its \.json: expected/);
    await expect(loadState(run, 3, 1)).rejects.toThrow(/rank-3.*round-1\.json/);
  });
});
