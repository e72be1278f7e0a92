import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import { decodeSafetensors } from '../../core/safetensors/safetensors.ts';
import { projectFolder, train, useHub } from './harness.ts';

const { hub } = useHub();
const ranks = [0, 1];

/** The bytes of a checkpoint's weights by name. */
async function weightsOf(folder: string, rank: number, name = 'final'): Promise<Map<string, Buffer>> {
  const file = await readFile(join(folder, 'checkpoints', `rank-${rank}`, `${name}.safetensors`));
  const { tensors } = decodeSafetensors(file);
  return new Map(
    tensors.map(({ name: weight, data }) => [weight, Buffer.from(data.buffer, data.byteOffset, data.byteLength)]),
  );
}

const startingFrom = (folder: string, groups: { weights: string; rateFactor: number }[]): RunConfigInput => ({
  devices: 2,
  hyperparameters: { stage: 'few' },
  warmStart: { checkpoint: join(folder, 'checkpoints', 'rank-{rank}', 'final.safetensors'), strict: false },
  optimizer: { kind: 'adam', learningRate: 0.01, groups },
  checkpoints: { everyEpochs: 1 },
});

it('a base learned from many samples stays as it is while a new head learns, and then learns more slowly', async () => {
  const many = await train(hub(), 'transfer', { devices: 2 });
  expect(many.record).toMatchObject({ status: 'finished', error: null });
  const head = await train(hub(), 'transfer', startingFrom(many.folder, [{ weights: '^base', rateFactor: 0 }]));
  expect(head.record).toMatchObject({ status: 'finished', error: null });
  const tuned = await train(hub(), 'transfer', startingFrom(head.folder, [{ weights: '^base', rateFactor: 0.1 }]));
  expect(tuned.record).toMatchObject({ status: 'finished', error: null });
  for (const rank of ranks) {
    const [learned, frozen, whole] = [
      await weightsOf(many.folder, rank),
      await weightsOf(head.folder, rank),
      await weightsOf(tuned.folder, rank),
    ];
    const atFirst = await weightsOf(head.folder, rank, 'epoch-00000');
    const base = [...learned.keys()].filter((name) => name.startsWith('base_'));
    // Kernel and bias, and of the normalization scale, shift and both running statistics.
    expect(base).toHaveLength(6);
    for (const name of base) {
      expect(frozen.get(name), name).toEqual(learned.get(name));
      expect(whole.get(name), name).not.toEqual(frozen.get(name));
    }
    for (const name of ['head/kernel', 'head/bias']) {
      expect(frozen.get(name), name).not.toEqual(atFirst.get(name));
      expect(whole.get(name), name).not.toEqual(frozen.get(name));
    }
    expect(frozen.get('head/kernel')).toHaveLength(16 * 2 * Float32Array.BYTES_PER_ELEMENT);
  }
});

it('the guide to transfer learning shows this project', async () => {
  const guide = await readFile(join(import.meta.dirname, '../../docs/guides/transfer.md'), 'utf8');
  expect(guide).toContain(await readFile(join(projectFolder('transfer'), 'project.ts'), 'utf8'));
});
