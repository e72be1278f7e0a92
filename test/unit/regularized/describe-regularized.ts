import { beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { type BackendKind, startBackend } from '../../../workers/backends/backend.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';
import { createMembers, train, weightsOf as weightsOfMember } from '../stacked/stacks.ts';
import { createRanks, largestDifference, type TrainedRank, weightsOf } from '../strategies/ranks.ts';
import { batchOf, createModel, reference } from './models.ts';

const { batches, runs } = reference;
const steps = batches.length;
const optimizer = { kind: 'sgd', learningRate: 0.1, momentum: 0.9 } as const;
const base: RunConfigInput = { members: 3, seed: 0, batchSize: 4, optimizer };

/** Trains ranks on the reference's batches. `samplesOf` returns a rank's samples in a step. */
async function trainRanks(input: RunConfigInput, samplesOf: (rank: number, step: number) => number[]) {
  const ranks = await createRanks(input, { create: createModel, totalSteps: steps });
  await Promise.all(ranks.map((rank) => trainRank(rank, (step) => samplesOf(rank.group.rank, step))));
  return ranks;
}

async function trainRank({ group, member, strategy, outcomes }: TrainedRank, samplesOf: (step: number) => number[]) {
  for (let step = 0; step < steps; step++) {
    const position = { epoch: 0, step, totalSteps: steps };
    const batch = batchOf(samplesOf(step));
    const outcome = await strategy.trainStep(member, batch, { learningRate: 0.1 }, position);
    if (outcome !== null) outcomes.push(outcome);
  }
  const last = await strategy.settle?.();
  if (last) outcomes.push(last);
  expect(outcomes, `rank ${group.rank}`).toHaveLength(steps);
}

function expectAlike(
  ranks: readonly TrainedRank[],
  expected: (typeof runs)['joint'],
  members = ranks.map((_, i) => i),
) {
  ranks.forEach((rank, i) => {
    const member = members[i];
    expect(largestDifference(weightsOf(rank), expected.weights[member])).toBeLessThan(2e-5);
    const losses = rank.outcomes.map(({ loss }) => loss);
    expect(largestDifference(losses, expected.losses[member])).toBeLessThan(2e-5);
  });
}

/** Compares layers' penalties and constraints with PyTorch in float64, for every way to make a step. */
export function describeRegularized(backend: BackendKind): void {
  describe(`penalties and constraints on ${backend}`, () => {
    beforeAll(async () => void (await startBackend(backend)));

    it('equal those of PyTorch for independent members', async () => {
      const ranks = await trainRanks(base, (rank, step) => batches[(step + rank) % steps][0]);
      expectAlike(ranks, runs.independent);
    });

    it('equal those of PyTorch for stacked members', async () => {
      let next = 0;
      const recipe = { create: () => createModel(next++), optimizer };
      const members = await createMembers(recipe, true);
      const options = { to: steps, learningRate: 0.1 };
      const outcomes = await train(members, (member, step) => batchOf(batches[(step + member) % steps][0]), options);
      members.forEach((member, m) => {
        expect(largestDifference(weightsOfMember(member), runs.independent.weights[m])).toBeLessThan(2e-5);
        const losses = outcomes[m].map(({ loss }) => loss);
        expect(largestDifference(losses, runs.independent.losses[m])).toBeLessThan(2e-5);
      });
    });

    it.each([{ kind: 'data-parallel' }, { kind: 'data-parallel', compression: 'none' }, { kind: 'sharded' }] as const)(
      'equal those of PyTorch for one model on 3 ranks with empty batches: %o',
      async (strategy) => {
        const ranks = await trainRanks({ ...base, strategy }, (rank, step) => batches[step][rank]);
        expectAlike(ranks, runs.oneModel, [0, 0, 0]);
        expect(weightsOf(ranks[1])).toEqual(weightsOf(ranks[0]));
        expect(weightsOf(ranks[2])).toEqual(weightsOf(ranks[0]));
      },
    );

    it('equal those of PyTorch for HDET, whose mean weights are constrained again', async () => {
      const strategy = { kind: 'hdet', spread: 0.5, averageEverySteps: 2, adapt: false } as const;
      const ranks = await trainRanks({ ...base, strategy }, (rank, step) => batches[step][rank]);
      ranks.forEach((rank, r) => {
        expect(largestDifference(weightsOf(rank), runs.hdet.weights[r])).toBeLessThan(2e-5);
      });
    });

    it.each(['reduce', 'gather', 'tree', 'pipelined'] as const)(
      'equal those of PyTorch for members that learn jointly: %s',
      async (mode) => {
        const ranks = await trainRanks({ ...base, strategy: { kind: 'joint', mode } }, (_, step) => batches[step][0]);
        expectAlike(ranks, mode === 'pipelined' ? runs.pipelined : runs.joint);
      },
    );

    it('leak no tensor', async () => {
      for (const strategy of [{ kind: 'independent' }, { kind: 'joint' }, { kind: 'sharded' }] as const) {
        const ranks = await createRanks({ ...base, strategy }, { create: createModel, totalSteps: steps });
        const step = async (index: number) => {
          const position = { epoch: 0, step: index, totalSteps: steps };
          const batch = batchOf(batches[0][0]);
          await Promise.all(
            ranks.map(({ member, strategy: own }) => own.trainStep(member, batch, { learningRate: 0.1 }, position)),
          );
        };
        await step(0);
        const { numTensors } = tf.memory();
        await step(1);
        expect(tf.memory().numTensors, strategy.kind).toBe(numTensors);
      }
    });
  });
}
