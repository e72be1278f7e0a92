import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../../core/protocol/run/config.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { ReplicasDifferError } from '../../../../workers/strategies/data-parallel/replica-check.ts';
import { createStrategy } from '../../../../workers/strategies/index.ts';
import { tf, type Variable } from '../../../../workers/tensorflow/tf.ts';
import { runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { taskOf } from '../../../../workers/member/tasks.ts';
import { createRanks, savedState, type TrainedRank, trainRanks } from '../ranks.ts';

beforeAll(async () => void (await startBackend('cpu')));

const names = ['dense_0/kernel', 'dense_0/bias', 'dense_1/kernel', 'dense_1/bias'];
const strategies = {
  'data-parallel': { kind: 'data-parallel' },
  sharded: { kind: 'sharded' },
  'hdet without spread': { kind: 'hdet', spread: 0 },
  'hdet after a sync': { kind: 'hdet', spread: 0.3, averageEverySteps: 4 },
} as const;

const configOf = (strategy: RunConfigInput['strategy'], members = 3): RunConfigInput => ({
  members,
  batchSize: 5,
  strategy,
  optimizer: { kind: 'adam', learningRate: 0.02 },
});

/** Flips the lowest bit of one value, the smallest possible difference. */
function flipLowestBit(variable: Variable, element: number): void {
  const values = variable.dataSync<'float32'>().slice();
  new Uint32Array(values.buffer)[element] ^= 1;
  tf.tidy(() => variable.assign(tf.tensor(values, variable.shape)));
}

async function errorOf({ strategy, member }: TrainedRank, step: number): Promise<unknown> {
  try {
    await strategy.verify?.(member, { epoch: 2, step });
    return null;
  } catch (error) {
    return error;
  }
}

/** The error that each rank throws, or null. */
const verify = (ranks: readonly TrainedRank[], step: number): Promise<unknown[]> =>
  Promise.all(ranks.map((rank) => errorOf(rank, step)));

async function trained(strategy: RunConfigInput['strategy'], steps = 4, members = 3): Promise<TrainedRank[]> {
  const input = configOf(strategy, members);
  const ranks = await createRanks(input, { totalSteps: 40 });
  await trainRanks(ranks, input, { to: steps });
  return ranks;
}

describe.each(Object.entries(strategies))('replicas of %s', (_, strategy) => {
  it('pass when equal; one flipped bit of any weight on any rank ends all ranks with the same error', async () => {
    const ranks = await trained(strategy);
    expect(await verify(ranks, 4)).toEqual([null, null, null]);
    const places = fc.record({
      rank: fc.nat({ max: 2 }),
      weight: fc.nat({ max: 3 }),
      element: fc.nat({ max: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(places, async ({ rank, weight, element }) => {
        const variable = ranks[rank].member.variables[weight];
        flipLowestBit(variable, element);
        const errors = await verify(ranks, 4);
        flipLowestBit(variable, element);
        for (const error of errors) {
          expect(error).toBeInstanceOf(ReplicasDifferError);
          const { message, at } = error as ReplicasDifferError;
          expect(at).toEqual({ rank, epoch: 2, step: 4 });
          // Two of three ranks agree, so the third is the one that differs, even if it is the first.
          expect(message).toContain(
            `differ at epoch 3, step 4: "${names[weight]}" of rank ${rank} is not that of rank ${rank === 0 ? 1 : 0}.`,
          );
        }
      }),
      { seed: 8, numRuns: 12 },
    );
    expect(await verify(ranks, 4)).toEqual([null, null, null]);
  });
});

describe('replicas', () => {
  it('report different optimizer state before different weights', async () => {
    const ranks = await trained({ kind: 'data-parallel' });
    const slot = ranks[1].member.optimizer.slots.get('square.2');
    if (slot === undefined) throw new Error('Adam has a second moment of each variable.');
    flipLowestBit(slot, 0);
    const messages = (await verify(ranks, 4)).map((error) => (error as Error).message);
    expect(messages).toEqual(ranks.map(() => expect.stringContaining(`the optimizer's "square.2" of rank 1`)));
    flipLowestBit(slot, 0);
    ranks[2].member.optimizer.steps[3] += 1;
    const [error] = await verify(ranks, 4);
    expect((error as Error).message).toContain("the optimizer's counts of updates of rank 2 is not that of rank 0");
  });

  it('may differ between two syncs of hdet and in running statistics of batch normalisation', async () => {
    const apart = await trained(strategies['hdet after a sync'], 5);
    expect(await verify(apart, 5)).toEqual([null, null, null]);
    const create = () =>
      tf.sequential({ layers: [tf.layers.batchNormalization({ inputShape: [4] }), tf.layers.dense({ units: 3 })] });
    const input = configOf({ kind: 'data-parallel' }, 2);
    const ranks = await createRanks(input, { create });
    await trainRanks(ranks, input, { to: 3 });
    const statistics = ranks.map(({ member }) => [...member.model.nonTrainableWeights[0].read().dataSync()]);
    expect(statistics[0]).not.toEqual(statistics[1]);
    expect(await verify(ranks, 3)).toEqual([null, null]);
  });

  it.each(['data-parallel', 'sharded'] as const)('of %s are refused when they differ after a resume', async (kind) => {
    const ranks = await trained({ kind }, 1, 2);
    flipLowestBit(ranks[1].member.variables[0], 0);
    const config = runConfigSchema.parse(configOf({ kind }, 2));
    const results = await Promise.allSettled(
      ranks.map(async ({ group, member, strategy }) => {
        const context = { config, task: taskOf('classification'), totalSteps: 4 };
        const saved = await savedState(strategy);
        await createStrategy(config.strategy, context).setup(member, group, saved, { epoch: 0, step: 1 });
      }),
    );
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'ReplicasDifferError' } });
    }
  });
});
