import { beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../../core/protocol/run/config.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { gatherBatch } from '../../../../workers/data/dataset.ts';
import { clipByNorm, sumOfSquares } from '../../../../workers/strategies/data-parallel/gradient-exchange.ts';
import { partsOf } from '../../../../workers/strategies/data-parallel/local-gradients.ts';
import { tf, type LayersModel } from '../../../../workers/tensorflow/tf.ts';
import { createRanks, dataset, savedState, trainRanks, weightsOf } from '../ranks.ts';

beforeAll(async () => void (await startBackend('cpu')));

const adam = { kind: 'adam', learningRate: 0.02 } as const;

describe('sharded training', () => {
  const input: RunConfigInput = { members: 3, batchSize: 5, strategy: { kind: 'sharded' }, optimizer: adam };

  it("splits Adam's state: each of 3 ranks holds a third of 2 × 51 numbers", async () => {
    const ranks = await createRanks(input);
    // 24 + 6 + 18 + 3 weights in slices of 17, each with the parts of tensors that lie in it. Means come first, then
    // squares.
    const slots = [
      [17, 17],
      [7, 6, 4, 7, 6, 4],
      [14, 3, 14, 3],
    ];
    for (const { group, strategy, member } of ranks) {
      const state = await savedState(strategy);
      expect(state?.tensors.map(({ data }) => data.length)).toEqual(slots[group.rank]);
      expect(member.optimizer.slots.size).toBe(0);
    }
  });

  it('resumes exactly from its saved state', async () => {
    const through = await createRanks(input);
    await trainRanks(through, input, { to: 20 });
    const saved = await Promise.all(through.map(({ strategy }) => savedState(strategy)));
    const models = through.map(({ member }) => member.model.getWeights().map((weight) => weight.clone()));
    await trainRanks(through, input, { from: 20, to: 30 });

    const create = (seed: number): LayersModel => {
      const model = tf.sequential({
        layers: [tf.layers.dense({ units: 6, activation: 'tanh', inputShape: [4] }), tf.layers.dense({ units: 3 })],
      });
      model.setWeights(models[seed - 42]);
      return model;
    };
    const resumed = await createRanks(input, { create, saved: saved.map((state) => structuredClone(state)) });
    await trainRanks(resumed, input, { from: 20, to: 30 });
    expect(resumed.map(weightsOf)).toEqual(through.map(weightsOf));
    expect(resumed[0].outcomes).toEqual(through[0].outcomes.slice(20));
  });
});

describe('the state of a sharded run', () => {
  it('is refused by name if it counts updates of other parts than the slice has', async () => {
    const input: RunConfigInput = { members: 2, batchSize: 5, strategy: { kind: 'sharded' }, optimizer: adam };
    const [rank] = await createRanks(input);
    const tensors = ['mean.0', 'square.0'].map((name) => ({
      name,
      dtype: 'F32' as const,
      shape: [26],
      data: new Float32Array(26),
    }));
    const saved = { tensors, data: { optimizerSteps: [7] } };
    await expect(createRanks(input, { saved: [saved, saved] })).rejects.toThrow(
      'The saved optimizer state of rank 0 counts updates of 1 part(s) of its slice of the weights, not of 2',
    );
    expect(rank.group.rank).toBe(0);
  });
});

describe('micro-batches', () => {
  it('are views of at most that many samples, the last with the remainder; an empty batch has none', () => {
    const batch = gatherBatch(dataset, Int32Array.of(3, 1, 4, 1, 5));
    const parts = [...partsOf(batch, 2)];
    expect(parts.map(({ counted }) => counted)).toEqual([2, 2, 1]);
    expect(parts.map(({ batch: { featureShape, targetShape } }) => [featureShape, targetShape])).toEqual([
      [[2, 4], [2]],
      [[2, 4], [2]],
      [[1, 4], [1]],
    ]);
    expect(parts.flatMap(({ batch: { features } }) => [...features])).toEqual([...batch.features]);
    expect(parts.flatMap(({ batch: { targets } }) => [...targets])).toEqual([...batch.targets]);
    expect([...partsOf(gatherBatch(dataset, Int32Array.of()), 2)]).toEqual([]);
  });
});

describe('clipping', () => {
  it('scales [3, 4] down to a norm of 1, and leaves it unchanged below 5', () => {
    const clipped = Float32Array.of(3, 4);
    clipByNorm(clipped, sumOfSquares(clipped), 1);
    expect(clipped[0]).toBeCloseTo(0.6, 6);
    expect(clipped[1]).toBeCloseTo(0.8, 6);
    const small = Float32Array.of(3, 4);
    clipByNorm(small, sumOfSquares(small), 5.1);
    expect([...small]).toEqual([3, 4]);
  });
});
