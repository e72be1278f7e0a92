import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../../core/protocol/run/config.ts';
import { findResumePoint } from '../../../../src-main/store/runs/resume-point.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import type { Callback } from '../../../../workers/callbacks/callback.ts';
import { loadTrainingState } from '../../../../workers/training/saved-state.ts';
import { Trainer } from '../../../../workers/training/trainer.ts';
import { createInMemoryGroup, ranksOf } from '../../relay/in-memory-group.ts';
import { largestDifference } from '../../strategies/ranks.ts';
import { temporaryFolder } from './fakes.ts';
import { base, partsOf } from './two-ranks.ts';

beforeAll(async () => void (await startBackend('wasm')));

const stop = { action: 'stop' } as const;

interface Part {
  members: number;
  batchSize: number;
  /** The step after which the ranks are stopped; absent: they train to the end. */
  until?: number;
}

interface Trained {
  steps: number;
  totalSteps: number;
  weights: number[];
  /** Samples of each step, of all ranks, by epoch. */
  seen: Map<number, number[]>;
}

/** Trains these ranks on from the newest state in the folder, if there is one. */
async function train(input: RunConfigInput, folder: string, { members, batchSize, until }: Part): Promise<Trained> {
  const config = { ...base, ...input, members, batchSize };
  const ranks = createInMemoryGroup(ranksOf(members)).groups.map((group) => partsOf(config, folder, group));
  const point = await findResumePoint(folder, ranksOf(members));
  const seen = new Map<number, number[]>();
  const trainers: Trainer[] = [];
  for (const parts of ranks) {
    const from = point === null ? null : { round: point.round, worldSize: point.worldSize ?? -1 };
    const resumed = from === null ? undefined : await loadTrainingState(parts, from);
    const stopper: Callback = {
      name: 'stopper',
      onStepEnd: ({ step, group }) => {
        if (step === until && group.rank === 0) for (const { controls } of ranks) controls.take(stop);
      },
    };
    const follow = (epoch: number, indices: Int32Array) => seen.set(epoch, [...(seen.get(epoch) ?? []), ...indices]);
    const batches = {
      ...parts.batches,
      isLockstep: parts.batches.isLockstep,
      length: parts.batches.length,
      batch: (...args: Parameters<typeof parts.batches.batch>) => {
        follow(trainer.training.progress.epoch, args[0]);
        return parts.batches.batch(...args);
      },
    };
    const trainer = new Trainer({ ...parts, batches, callbacks: [...parts.callbacks, stopper] }, resumed);
    trainers.push(trainer);
  }
  await Promise.all(trainers.map((trainer) => trainer.fit()));
  const [{ training, totalSteps }] = trainers;
  const weights = training.model.getWeights().flatMap((weight) => [...weight.dataSync()]);
  return { steps: training.step, totalSteps, weights, seen };
}

const sgd = { kind: 'sgd', learningRate: 0.05, momentum: 0.9 } as const;
const adam = { kind: 'adam', learningRate: 0.02, clipNorm: 1 } as const;
const lamb = { kind: 'lamb', learningRate: 0.02 } as const;
const inputs: [string, RunConfigInput][] = [
  ['data-parallel', { strategy: { kind: 'data-parallel' }, optimizer: adam }],
  ['data-parallel, accumulating', { strategy: { kind: 'data-parallel', accumulate: 2 }, optimizer: sgd }],
  ['sharded', { strategy: { kind: 'sharded' }, optimizer: adam }],
  ['sharded, with norms of whole tensors,', { strategy: { kind: 'sharded' }, optimizer: lamb }],
  ['sharded with gradients', { strategy: { kind: 'sharded', stage: 2, bucketBytes: 60 }, optimizer: adam }],
  ['sharded with weights', { strategy: { kind: 'sharded', stage: 3 }, optimizer: sgd, ema: { decay: 0 } }],
  ['sharded with state in files', { strategy: { kind: 'sharded', stage: 2, offload: 'optimizer' }, optimizer: adam }],
];

describe.each(inputs)('%s training that another number of ranks continues', (_, input) => {
  it('has the weights of one process where the effective batch stays the same', async () => {
    const samples = 12 / ('accumulate' in (input.strategy ?? {}) ? 2 : 1);
    const whole = await train(input, await temporaryFolder(), { members: 1, batchSize: samples });
    const sizes = fc.constantFrom(...[1, 2, 3, 6].filter((size) => samples % size === 0));
    const draws = fc.record({ sizes: fc.tuple(sizes, sizes, sizes), stops: fc.tuple(fc.nat(9), fc.nat(9)) });
    await fc.assert(
      fc.asyncProperty(draws, async ({ sizes: [first, second, third], stops }) => {
        const folder = await temporaryFolder();
        const at = [1 + stops[0], 2 + stops[0] + stops[1]];
        const part = (members: number, until?: number): Part => ({ members, batchSize: samples / members, until });
        await train(input, folder, part(first, at[0]));
        await train(input, folder, part(second, at[1]));
        const last = await train(input, folder, part(third));
        expect([last.steps, last.totalSteps]).toEqual([whole.steps, whole.steps]);
        expect(largestDifference(last.weights, whole.weights)).toBeLessThan(1e-5);
      }),
      { numRuns: 2 },
    );
  });
});

describe('data-parallel training with another effective batch', () => {
  it('trains on every sample of each epoch, and on less than a step of them again', async () => {
    const parts = fc.record({ members: fc.integer({ min: 1, max: 4 }), batchSize: fc.integer({ min: 1, max: 7 }) });
    const draws = fc.record({ before: parts, after: parts, until: fc.integer({ min: 1, max: 9 }) });
    await fc.assert(
      fc.asyncProperty(draws, async ({ before, after, until }) => {
        const folder = await temporaryFolder();
        const input: RunConfigInput = { strategy: { kind: 'data-parallel' }, maxEpochs: 2 };
        const first = await train(input, folder, { ...before, until });
        const second = await train(input, folder, after);
        expect(second.steps).toBe(second.totalSteps);
        for (const epoch of [0, 1]) {
          const samples = [...(first.seen.get(epoch) ?? []), ...(second.seen.get(epoch) ?? [])];
          expect(new Set(samples).size).toBe(53);
          expect(samples.length - 53).toBeLessThan(after.members * after.batchSize);
        }
      }),
      { numRuns: 6 },
    );
  });

  it('keeps no state of ranks that are no longer there, once none can be needed', async () => {
    const folder = await temporaryFolder();
    const input: RunConfigInput = { strategy: { kind: 'sharded' }, maxEpochs: 6 };
    const statesOf = (rank: number) => {
      const states = join(folder, 'state', `rank-${rank}`);
      return existsSync(states) ? readdirSync(states).filter((name) => name.endsWith('.json')) : [];
    };
    await train(input, folder, { members: 3, batchSize: 4, until: 5 });
    expect(statesOf(2)).not.toEqual([]);
    await train(input, folder, { members: 2, batchSize: 6 });
    expect([statesOf(0).length, statesOf(2)]).toEqual([2, []]);
  });
});
