import { beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../../core/protocol/run/config.ts';
import { type BackendKind, startBackend } from '../../../../workers/backends/backend.ts';
import { createDataset, gatherBatch } from '../../../../workers/data/dataset.ts';
import { taskOf } from '../../../../workers/member/tasks.ts';
import { tf, type LayersModel } from '../../../../workers/tensorflow/tf.ts';
import {
  createModelOf,
  createRanks,
  dataset,
  largestDifference,
  savedState,
  trainRanks,
  weightsOf,
  wholeWeights,
} from '../ranks.ts';

const steps = 50;
const adam = { kind: 'adam', learningRate: 0.02 } as const;

async function train(input: RunConfigInput, create?: (seed: number) => LayersModel) {
  const ranks = await createRanks(input, { create });
  await trainRanks(ranks, input, { to: steps });
  return {
    ranks,
    weights: await wholeWeights(ranks),
    losses: ranks.map(({ outcomes }) => outcomes.map(({ loss }) => loss)),
  };
}

/** Each sample's target is its first three features. */
const values = createDataset({
  name: 'values',
  featureShape: [4],
  features: dataset.features,
  targets: Float32Array.from(
    { length: 3 * dataset.length },
    (_, i) => dataset.features[Math.floor(i / 3) * 4 + (i % 3)],
  ),
  targetShape: [3],
});

/** One worker that sees in each step all samples that the ranks see together. */
const oneWorker = (batchSize: number, optimizer: RunConfigInput['optimizer']): RunConfigInput => ({
  members: 1,
  strategy: { kind: 'independent' },
  sampler: 'shared',
  batchSize,
  optimizer,
});

/** Properties of all strategies that train one model on several ranks. */
export function describeDataParallel(backend: BackendKind): void {
  describe.each([
    { name: 'data-parallel', strategy: { kind: 'data-parallel' } },
    { name: 'sharded, stage 1', strategy: { kind: 'sharded' } },
    { name: 'sharded, stage 2', strategy: { kind: 'sharded', stage: 2, bucketBytes: 40 } },
    { name: 'sharded, stage 3', strategy: { kind: 'sharded', stage: 3 } },
  ] as const)(`$name training on ${backend}`, ({ strategy }) => {
    beforeAll(async () => void (await startBackend(backend)));

    it.each([
      { name: 'SGD with momentum', optimizer: { kind: 'sgd', learningRate: 0.1, momentum: 0.9 } },
      { name: 'Adam', optimizer: adam },
      { name: 'AdamW', optimizer: { kind: 'adamw', learningRate: 0.02, weightDecay: 0.1 } },
    ] as const)(
      'on 3 ranks equals one worker with three times the batch, with uneven last batches: $name',
      async (run) => {
        const { weights, losses } = await train({
          members: 3,
          batchSize: 5,
          strategy,
          optimizer: run.optimizer,
        });
        const single = await train(oneWorker(15, run.optimizer));
        expect(losses[0]).toHaveLength(steps);
        expect(losses[1]).toEqual(losses[0]);
        expect(largestDifference(losses[0], single.losses[0])).toBeLessThan(1e-5);
        expect(largestDifference(weights[0], single.weights[0])).toBeLessThan(1e-5);
        expect(weights[1]).toEqual(weights[0]);
        expect(weights[2]).toEqual(weights[0]);
      },
    );

    it('on 3 ranks equals one worker in a regression, too', async () => {
      const task = taskOf('regression');
      const weightsAfter = async (input: RunConfigInput): Promise<number[]> => {
        const ranks = await createRanks(input, { task });
        await trainRanks(ranks, input, { data: values, to: steps });
        return (await wholeWeights(ranks))[0];
      };
      const single = await weightsAfter(oneWorker(15, adam));
      const shared = await weightsAfter({ members: 3, batchSize: 5, strategy, optimizer: adam });
      expect(largestDifference(shared, single)).toBeLessThan(1e-5);
    });

    it('accumulates gradients: two parts of 5 samples equal one of 10', async () => {
      const parts = await train({
        members: 2,
        batchSize: 5,
        strategy: { ...strategy, accumulate: 2 },
        optimizer: adam,
      });
      const whole = await train({ members: 2, batchSize: 10, strategy, optimizer: adam });
      expect(largestDifference(parts.weights[0], whole.weights[0])).toBeLessThan(1e-5);
      const [event] = parts.ranks[0].strategy.events?.() ?? [];
      expect(event.message).toBe('Effective batch size 20: 5 samples × 2 ranks × 2 accumulated.');
    });

    it('continues when a rank has no samples left: for 8 ranks, 53 samples are 6 steps of 8 and one of 5', async () => {
      const { losses } = await train({ members: 8, batchSize: 1, strategy, optimizer: adam });
      const single = await train(oneWorker(8, adam));
      expect(largestDifference(losses[7], single.losses[0])).toBeLessThan(1e-5);
    });

    it('clips the norm over all ranks: SGD moves by at most the learning rate times the norm', async () => {
      const input: RunConfigInput = {
        members: 3,
        batchSize: 5,
        strategy,
        optimizer: { kind: 'sgd', learningRate: 1, clipNorm: 0.01 },
      };
      const ranks = await createRanks(input);
      const [before] = await wholeWeights(ranks);
      await trainRanks(ranks, input, { to: 1 });
      const [after] = await wholeWeights(ranks);
      const moved = after.map((weight, i) => weight - before[i]);
      expect(Math.sqrt(moved.reduce((sum, change) => sum + change * change, 0))).toBeCloseTo(0.01, 5);
    });

    it('with bfloat16 gradients keeps ranks equal and losses within a percent', async () => {
      const exact = await train({ members: 2, batchSize: 5, strategy, optimizer: adam });
      const rounded = await train({
        members: 2,
        batchSize: 5,
        strategy: { ...strategy, compression: 'bfloat16' },
        optimizer: adam,
      });
      expect(rounded.weights[1]).toEqual(rounded.weights[0]);
      expect(rounded.weights[0]).not.toEqual(exact.weights[0]);
      expect(largestDifference(rounded.losses[0], exact.losses[0])).toBeLessThan(0.01);
    });

    it.each(['bfloat16', '1-bit'] as const)(
      'with %s and error feedback learns like without, equally on all ranks, and resumes exactly',
      async (compression) => {
        const feedback = { compression, errorFeedback: true } as const;
        const optimizer = { kind: 'sgd', learningRate: 0.1 } as const;
        const input: RunConfigInput = { members: 3, batchSize: 5, strategy: { ...strategy, ...feedback }, optimizer };
        const exact = await train({ members: 3, batchSize: 5, strategy, optimizer });
        const ranks = await createRanks(input);
        await trainRanks(ranks, input, { to: 20 });
        const saved = await Promise.all(ranks.map(async (rank) => await savedState(rank.strategy)));
        const weights = await wholeWeights(ranks);
        await trainRanks(ranks, input, { from: 20, to: steps });
        const end = await wholeWeights(ranks);
        expect(end[1]).toEqual(end[0]);
        expect(end[2]).toEqual(end[0]);
        const last = (losses: readonly number[]) => losses.slice(-12).reduce((sum, loss) => sum + loss / 12, 0);
        const losses = ranks[0].outcomes.map(({ loss }) => loss);
        expect(Math.abs(last(losses) - last(exact.losses[0]))).toBeLessThan(compression === '1-bit' ? 0.05 : 0.005);
        const again = await createRanks(input, { saved, create: () => createModelOf(weights[0]) });
        await trainRanks(again, input, { from: 20, to: steps });
        expect(await wholeWeights(again)).toEqual(end);
      },
    );

    it('updates no rank when the loss of one is not finite', async () => {
      const input: RunConfigInput = { members: 2, batchSize: 5, strategy, optimizer: adam };
      const ranks = await createRanks(input);
      const [before] = await wholeWeights(ranks);
      const outcomes = await Promise.all(
        ranks.map(({ group, member, strategy }) => {
          const batch = gatherBatch(dataset, Int32Array.of(0, 1));
          if (group.rank === 1) batch.features[0] = NaN;
          return strategy.trainStep(member, batch, { learningRate: 1 }, { epoch: 0, step: 0, totalSteps: 1 });
        }),
      );
      expect(outcomes.map((outcome) => outcome?.updated)).toEqual([false, false]);
      expect(outcomes[0]?.loss).toBeNaN();
      expect((await wholeWeights(ranks))[0]).toEqual(before);
    });

    it("evaluates with the first rank's running statistics", async () => {
      const create = (): LayersModel =>
        tf.sequential({
          layers: [tf.layers.batchNormalization({ inputShape: [4] }), tf.layers.dense({ units: 3 })],
        });
      const { ranks, weights } = await train({ members: 2, batchSize: 5, strategy, optimizer: adam }, create);
      // The weights of shards were read with the first rank's statistics.
      const isRead = ranks[0].strategy.keepsWeights === true;
      expect(largestDifference(weights[0], weights[1]) > 1e-4).toBe(!isRead);
      await Promise.all(ranks.map(async ({ strategy }) => await strategy.assemble?.()));
      expect(weightsOf(ranks[1])).toEqual(weights[0]);
      expect(weightsOf(ranks[0])).toEqual(weights[0]);
    });

    it('leaks no tensor', async () => {
      const optimizer = { ...adam, clipNorm: 1 };
      const input: RunConfigInput = { members: 2, batchSize: 5, strategy, optimizer };
      const ranks = await createRanks(input);
      await trainRanks(ranks, input, { to: 2 });
      const { numTensors } = tf.memory();
      await trainRanks(ranks, input, { from: 2, to: 12 });
      expect(tf.memory().numTensors).toBe(numTensors);
    });
  });
}
