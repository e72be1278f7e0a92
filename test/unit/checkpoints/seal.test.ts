import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readCheckpoint, saveCheckpoint } from '../../../workers/checkpoints/checkpoint-store.ts';
import type { NamedTensor } from '../../../core/safetensors/safetensors.ts';
import { findResumePoint } from '../../../src-main/store/runs/resume-point.ts';
import { saveState } from '../../../workers/checkpoints/training-state.ts';

/** Changes a file right after it was written and flushed, before anyone reads it. */
const disk = vi.hoisted(() => {
  const damage: (path: string) => Promise<void> = async () => {};
  return { damage };
});

vi.mock(import('../../../core/node/atomic-file.ts'), async (load) => {
  const own = await load();
  return {
    ...own,
    async writeFlushed(path, content) {
      await own.writeFlushed(path, content);
      await disk.damage(path);
    },
  };
});

let run: string;
beforeEach(async () => {
  run = await mkdtemp(join(tmpdir(), 'tutti-read-back-'));
});
afterEach(async () => {
  disk.damage = async () => {};
  await rm(run, { recursive: true });
});

const tensors: NamedTensor[] = [
  { name: 'dense_0/kernel', dtype: 'F32', shape: [3, 2], data: Float32Array.of(1, 2, 3, 4, 5, 6) },
  { name: 'dense_0/bias', dtype: 'F32', shape: [2], data: Float32Array.of(7, 8) },
];
/** Sorted by name, `bias` comes before `kernel`, and both are at the end of the file. */
const bytesOf = { 'dense_0/bias': [-32, -24], 'dense_0/kernel': [-24, 0] } as const;

const save = (step: number) =>
  saveCheckpoint(run, { rank: 3, name: 'final', epoch: 5, step, monitor: null, score: null, tensors });

function flip(fromEnd: number): (path: string) => Promise<void> {
  return async (path) => {
    const bytes = await readFile(path);
    bytes[bytes.length + fromEnd] ^= 1;
    await writeFile(path, bytes);
  };
}

describe('a checkpoint that reads back differently from what was written', () => {
  it('ends in an error that names file, tensor, rank, epoch and step, and leaves the previous one unchanged', async () => {
    await save(70);
    const places = fc.constantFrom('dense_0/bias' as const, 'dense_0/kernel' as const).chain((name) => {
      const [first, end] = bytesOf[name];
      return fc.record({ name: fc.constant(name), byte: fc.integer({ min: first, max: end - 1 }) });
    });
    await fc.assert(
      fc.asyncProperty(places, async ({ name, byte }) => {
        disk.damage = flip(byte);
        await expect(save(80)).rejects.toThrow(
          `final.safetensors.next reads back differently from what was written, from tensor "${name}" on ` +
            '(rank 3, epoch 6, step 80)',
        );
        const { record, tensors: kept } = await readCheckpoint(run, 3, 'final');
        expect(record.step).toBe(70);
        expect(kept.find((tensor) => tensor.name === 'dense_0/kernel')).toEqual(tensors[0]);
        expect(existsSync(join(run, 'checkpoints', 'rank-3', 'final.safetensors.next'))).toBe(false);
      }),
      { seed: 6, numRuns: 16 },
    );
  });

  it('may have another header, a missing end, or extra bytes', async () => {
    disk.damage = async (path) => flip(-(await readFile(path)).length + 12)(path);
    await expect(save(1)).rejects.toThrow('from its header on');
    disk.damage = async (path) => writeFile(path, (await readFile(path)).subarray(0, -3));
    await expect(save(1)).rejects.toThrow('from tensor "dense_0/kernel" on');
    disk.damage = async (path) => writeFile(path, Buffer.concat([await readFile(path), Buffer.of(0)]));
    await expect(save(1)).rejects.toThrow('from its end on');
    expect(existsSync(join(run, 'checkpoints', 'rank-3', 'final.json'))).toBe(false);
  });
});

describe('a state that reads back differently from what was written', () => {
  it('does not count as saved: the previous round is resumed from', async () => {
    const saveRound = (round: number) =>
      saveState(run, 1, { round, epoch: round, step: 7 * round, attempt: 1, metricRows: null, tensors, data: {} });
    await saveRound(1);
    disk.damage = flip(-1);
    await expect(saveRound(2)).rejects.toThrow('from tensor "dense_0/kernel" on (rank 1, epoch 3, step 14)');
    expect((await findResumePoint(run, [1]))?.round).toBe(1);
  });
});
