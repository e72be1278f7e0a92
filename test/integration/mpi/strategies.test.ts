import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput, StrategyConfig } from '../../../core/protocol/run/config.ts';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { noMpich, noOpenMpi } from '../../environment/mpi.ts';
import { notRun } from '../../environment/reasons.ts';
import { mergedMetrics, readCheckpointRecord, trainOnce, useHub } from '../harness.ts';
import { trainArguments } from '../nodes/launch.ts';
import { launchTutti } from './launch.ts';

const { hub, home } = useHub();
const once = trainOnce();

interface Case {
  name: string;
  config: RunConfigInput;
  /** The same as flags. */
  flags: Record<string, string | number>;
}

const large = { hyperparameters: { hiddenUnits: 20_000 } };
/** Joint training is in `auto.test.ts`; independent members exchange no arrays at their steps. */
const cases: Record<Exclude<StrategyConfig['kind'], 'joint' | 'independent'>, Case> = {
  coupled: {
    name: 'coupled',
    config: { strategy: { kind: 'coupled', unlabelledBatchSize: 20 }, hyperparameters: { unlabelled: 100 } },
    flags: { strategy: 'coupled', 'strategy.unlabelled-batch-size': 20, unlabelled: 100 },
  },
  'data-parallel': {
    name: 'data-parallel, with half a megabyte of gradients',
    config: { strategy: { kind: 'data-parallel' }, ...large },
    flags: { strategy: 'data-parallel', 'hidden-units': 20_000 },
  },
  sharded: {
    name: 'sharded, with half a megabyte of gradients',
    config: { strategy: { kind: 'sharded' }, ...large },
    flags: { strategy: 'sharded', 'hidden-units': 20_000 },
  },
  pipeline: {
    name: 'pipeline, with half a megabyte of activations',
    config: { strategy: { kind: 'pipeline', microBatches: 4, cuts: ['dense_1'] }, ...large },
    flags: {
      strategy: 'pipeline',
      'strategy.micro-batches': 4,
      'strategy.cuts': '["dense_1"]',
      'hidden-units': 20_000,
    },
  },
  hdet: {
    name: 'hdet',
    config: { strategy: { kind: 'hdet' }, schedule: { kind: 'one-cycle' } },
    flags: { strategy: 'hdet', schedule: 'one-cycle' },
  },
};

describe.skipIf(noOpenMpi !== null)(`tasks of mpirun${notRun(noOpenMpi)}`, () => {
  it.each(Object.values(cases))('exchange arrays by MPI and train to the bits of one machine: $name', async (of) => {
    const relayed = await once(hub(), 'blobs', { members: 2, devices: 'cpu:0', maxEpochs: 2, ...of.config });
    const folder = join(home(), of.name.replaceAll(/\W/g, ''));
    const options = { members: 2, devices: 'cpu:0', 'max-epochs': 2, collectives: 'mpi', ...of.flags };
    expect(await launchTutti(2, trainArguments('blobs', folder, options))).toMatchObject({ code: 0, signal: null });
    expect((await readRunRecord(folder)).status).toBe('finished');
    const messages = (await readEvents(folder)).map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringMatching(/^Arrays go by MPI: Open MPI v\S+, 2 processes\.$/));
    expect(await mergedMetrics(folder)).toEqual(await mergedMetrics(relayed.folder));
    const weights = (of: string): string => readCheckpointRecord(of, 0, 'final').sha256;
    expect(weights(folder)).toBe(weights(relayed.folder));
  });
});

it.skipIf(noMpich !== null)(`tasks of MPICH train to the bits of one machine${notRun(noMpich)}`, async () => {
  const { config, flags } = cases['data-parallel'];
  const relayed = await once(hub(), 'blobs', { members: 2, devices: 'cpu:0', maxEpochs: 2, ...config });
  const folder = join(home(), 'mpich');
  const options = { members: 2, devices: 'cpu:0', 'max-epochs': 2, collectives: 'mpi', ...flags };
  const launched = await launchTutti(2, trainArguments('blobs', folder, options), 'MPICH');
  expect(launched).toMatchObject({ code: 0, signal: null });
  const messages = (await readEvents(folder)).map(({ message }) => message);
  expect(messages).toContainEqual(expect.stringMatching(/^Arrays go by MPI: MPICH \S+, 2 processes\.$/));
  expect(readCheckpointRecord(folder, 0, 'final').sha256).toBe(readCheckpointRecord(relayed.folder, 0, 'final').sha256);
});
