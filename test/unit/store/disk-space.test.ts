import { link, mkdir, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { checkDiskSpace, forecastRunBytes, leastRankBytes, replacedBytes } from '../../../src-main/store/disk-space.ts';
import { temporaryFolder } from './fixtures.ts';

const SMALL_FILES = 16 * 1024 * 1024;

describe('forecastRunBytes', () => {
  // W = 4,000 bytes of weights, M = 2: M (C + 3 (1 + S)) W.
  it.each<[string, RunConfigInput, number]>([
    ['adam, three checkpoints', {}, 2 * (3 + 9) * 4_000],
    ['plain sgd', { optimizer: { kind: 'sgd' } }, 2 * (3 + 3) * 4_000],
    ['sgd with momentum', { optimizer: { kind: 'sgd', momentum: 0.9 } }, 2 * (3 + 6) * 4_000],
    [
      'adamw, every third of 10 epochs',
      { optimizer: { kind: 'adamw' }, checkpoints: { everyEpochs: 3 } },
      2 * (6 + 9) * 4_000,
    ],
    ['every epoch, the newest four', { checkpoints: { everyEpochs: 1, keepLast: 4 } }, 2 * (3 + 5 + 9) * 4_000],
    [
      'every epoch, fewer than are kept',
      { maxEpochs: 2, checkpoints: { everyEpochs: 1, keepLast: 4 } },
      2 * (3 + 2 + 9) * 4_000,
    ],
    ['the best five', { checkpoints: { keepTop: 5 } }, 2 * (3 + 6 + 9) * 4_000],
    ['no checkpoints', { checkpoints: { ensembleBest: false, memberBest: false, final: false } }, 2 * 9 * 4_000],
    // Ranks that train one model keep its checkpoints once, and a state each.
    ['data-parallel', { members: 4, strategy: { kind: 'data-parallel' } }, (3 + 4 * 9) * 4_000],
    ['hdet', { members: 4, strategy: { kind: 'hdet' } }, (3 + 4 * 9) * 4_000],
    ['sharded', { members: 4, strategy: { kind: 'sharded' } }, (3 + 3 * (4 + 2)) * 4_000],
    ['sharded, weights too', { members: 4, strategy: { kind: 'sharded', stage: 3 } }, (3 + 3 * (1 + 2)) * 4_000],
    ['a pipeline', { members: 4, strategy: { kind: 'pipeline' } }, (3 + 9) * 4_000],
    ['two pipelines', { members: 4, strategy: { kind: 'pipeline', stages: 2 } }, 2 * (3 + 9) * 4_000],
  ])('%s', (_name, config, expected) => {
    const forecast = forecastRunBytes({ parameterCount: 1_000, config: runConfigSchema.parse(config) });
    expect(forecast).toBe(expected + SMALL_FILES);
  });
});

it('forecasts at most the quota and one more checkpoint of each member', () => {
  // W = 4 MiB, a quota of 32 MiB for 4 members: 8 + 4 MiB each, beside 3 named checkpoints and 9 W of states.
  const options = { members: 4, maxEpochs: 1000, checkpoints: { everyEpochs: 1, quotaMiB: 32 } };
  const forecast = (config: RunConfigInput) =>
    forecastRunBytes({ parameterCount: 2 ** 20, config: runConfigSchema.parse(config) });
  expect(forecast(options)).toBe(4 * (3 + 3 + 9) * 4 * 2 ** 20 + SMALL_FILES);
  // The one model of 4 ranks has the whole quota: 32 + 4 MiB.
  const oneModel: RunConfigInput = { ...options, strategy: { kind: 'data-parallel' } };
  expect(forecast(oneModel)).toBe((3 + 9 + 4 * 9) * 4 * 2 ** 20 + SMALL_FILES);
});

describe('leastRankBytes', () => {
  // 1,000 parameters of 4 bytes: weights, gradients, and what the optimizer keeps.
  it.each<[string, RunConfigInput, number]>([
    ['adam', {}, (2 + 2) * 4_000],
    ['plain sgd', { optimizer: { kind: 'sgd' } }, 2 * 4_000],
    [
      'sgd with momentum and an average of the weights',
      { optimizer: { kind: 'sgd', momentum: 0.9 }, ema: { decay: 0.99 } },
      (2 + 2) * 4_000,
    ],
    ['adam, its state split over 4 ranks', { members: 4, strategy: { kind: 'sharded' } }, (2 + 0.5) * 4_000],
    ['adam, its state and gradients split', { members: 4, strategy: { kind: 'sharded', stage: 2 } }, 1.75 * 4_000],
    ['adam, its state as bfloat16', { optimizer: { kind: 'adam', statePrecision: 'bfloat16' } }, (2 + 1) * 4_000],
    [
      'adam, its state in files',
      { members: 4, strategy: { kind: 'sharded', stage: 2, offload: 'optimizer' } },
      1.25 * 4_000,
    ],
    ['adam, weights split too', { members: 4, strategy: { kind: 'sharded', stage: 3 } }, 4_000],
  ])('%s', (_name, config, expected) => {
    expect(leastRankBytes({ parameterCount: 1_000, config: runConfigSchema.parse(config) })).toBe(expected);
  });

  it('is not known for the ranks of a pipeline, which hold parts of the model', () => {
    const config = runConfigSchema.parse({ strategy: { kind: 'pipeline' } });
    expect(leastRankBytes({ parameterCount: 1_000, config })).toBeNull();
  });
});

describe('checkDiskSpace', () => {
  it('compares with the disk of the nearest folder that exists', async () => {
    const folder = join(await temporaryFolder(), 'not', 'yet');
    await checkDiskSpace(folder, 1);
    const { bavail, bsize } = await statfs('/tmp');
    await expect(checkDiskSpace(folder, bavail * bsize + 2 ** 50)).rejects.toThrow(
      /The run may take 1 PiB, but only .+ are free on the disk of .*not\/yet\. Free some space/,
    );
  });
});

it('counts the bytes that later files replace: not those with a second name, nor folders that do not exist', async () => {
  const folder = await temporaryFolder();
  const rank = join(folder, 'state', 'rank-0');
  await mkdir(rank, { recursive: true });
  await writeFile(join(rank, 'round-1.safetensors'), Buffer.alloc(300));
  await writeFile(join(rank, 'round-2.safetensors'), Buffer.alloc(5_000));
  await link(join(rank, 'round-2.safetensors'), join(folder, 'kept'));
  expect(await replacedBytes(folder)).toBe(300);
});
