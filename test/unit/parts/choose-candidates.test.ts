import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { candidatesOf } from '../../../src-main/parts/choose-candidates.ts';
import { requireSameKind } from '../../../src-main/parts/combine-runs.ts';
import { saveCheckpoint } from '../../../workers/checkpoints/checkpoint-store.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { runRecord } from '../store/records.ts';

/** A run with two names of the same weights, and other weights of another rank. */
async function run() {
  const folder = await temporaryFolder();
  const save = (rank: number, name: string, epoch: number, value: number) =>
    saveCheckpoint(folder, {
      rank,
      name,
      epoch,
      step: 10 * epoch,
      monitor: null,
      score: null,
      tensors: [{ name: 'kernel', dtype: 'F32', shape: [1], data: Float32Array.of(value) }],
    });
  await save(0, 'epoch-1', 1, 3);
  await save(0, 'epoch-2', 2, 4);
  await save(0, 'final', 3, 4);
  await save(1, 'final', 3, 4);
  return { folder, record: runRecord() };
}

describe('the checkpoints that members are chosen from', () => {
  it('are all with different weights, those of one rank, or those of one name', async () => {
    const one = await run();
    const names = async (choice: Parameters<typeof candidatesOf>[1]) =>
      (await candidatesOf(one, choice)).map(({ rank, name }) => `${rank} ${name}`);
    expect(await names({ method: 'greedy' })).toEqual(['0 epoch-1', '0 epoch-2', '1 final']);
    expect(await names({ method: 'snapshots' })).toEqual(['0 epoch-1', '0 epoch-2']);
    expect(await names({ method: 'soup', set: 'final' })).toEqual(['0 final', '1 final']);
    expect(await names({ method: 'soup', set: 'all', rank: 1 })).toEqual(['1 final']);
    expect(await names({ method: 'greedy', fromEpoch: 2 })).toEqual(['0 epoch-2', '1 final']);
    expect(await names({ method: 'swag', rank: 0 })).toEqual(['0 epoch-1', '0 epoch-2']);
    await expect(names({ method: 'swag', rank: 0, fromEpoch: 2 })).rejects.toThrow(
      'swag needs weights of 2 or more epochs, and rank 0 of the run run-1 has 1 checkpoint from epoch 3 on. ' +
        'Train with --checkpoints.every-epochs 1',
    );
    await expect(names({ method: 'greedy', set: 'best' })).rejects.toThrow(
      'The run run-1 has no checkpoint "best". It has: epoch-1, epoch-2, final.',
    );
  });

  it('come from runs of the same task and preprocessing', async () => {
    const [one, other] = [await run(), await run()];
    const asRun = (changes: object) => ({ ...other, record: runRecord({ id: 'run-2', ...changes }) });
    await expect(requireSameKind([one, asRun({})])).resolves.toBeUndefined();
    await expect(requireSameKind([one, asRun({ task: 'binary' })])).rejects.toThrow(
      'The run run-2 has the task binary, the run run-1 regression.',
    );
    await writeFile(join(other.folder, 'preprocessing.json'), '{"format": 1, "steps": []}');
    await expect(requireSameKind([one, asRun({})])).rejects.toThrow('The run run-2 prepares its inputs differently');
    await writeFile(join(one.folder, 'preprocessing.json'), '{"format":1,"steps":[]}');
    await expect(requireSameKind([one, asRun({})])).resolves.toBeUndefined();
    const keepInputs = ({ folder }: { folder: string }, ...extraInputs: string[]) =>
      writeFile(join(folder, 'preprocessing.json'), JSON.stringify({ format: 1, steps: [], extraInputs }));
    for (const kept of [one, other]) await keepInputs(kept, 'context');
    await expect(requireSameKind([one, asRun({})])).resolves.toBeUndefined();
    await keepInputs(one, 'place');
    await expect(requireSameKind([one, asRun({})])).rejects.toThrow('The run run-2 prepares its inputs differently');
    const keep = ({ folder }: { folder: string }, classNames: string[]) =>
      writeFile(
        join(folder, 'preprocessing.json'),
        JSON.stringify({ format: 1, steps: [], target: { kind: 'classes', column: 'digit', classNames } }),
      );
    await keep(one, ['1', '2', '10']);
    await keep(other, ['1', '10', '2']);
    await expect(requireSameKind([one, asRun({})])).rejects.toThrow(
      'The run run-2 has its classes in another order than the run run-1 (1, 10, 2 against 1, 2, 10).',
    );
    await keep(other, ['1', '2', '3']);
    await expect(requireSameKind([one, asRun({})])).rejects.toThrow(
      'The run run-2 has other classes than the run run-1',
    );
  });
});
