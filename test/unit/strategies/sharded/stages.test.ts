import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../../core/protocol/run/config.ts';
import { CollectiveError } from '../../../../core/protocol/wire/collectives.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { gatherBatch } from '../../../../workers/data/dataset.ts';
import { Generator } from '../../../../workers/random/index.ts';
import { tf, type LayersModel } from '../../../../workers/tensorflow/tf.ts';
import { createModelOf, createRanks, dataset, savedState, trainRanks, wholeWeights } from '../ranks.ts';

/** A drawn network of 4 inputs and 3 classes. */
interface Network {
  widths: number[];
  isNormalized: boolean;
  isShared: boolean;
  isPenalised: boolean;
}

const networks: fc.Arbitrary<Network> = fc.record({
  widths: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 3 }),
  isNormalized: fc.boolean(),
  isShared: fc.boolean(),
  isPenalised: fc.boolean(),
});

const cases = fc.record({
  network: networks,
  members: fc.integer({ min: 1, max: 4 }),
  batchSize: fc.integer({ min: 1, max: 8 }),
  bucketBytes: fc.integer({ min: 1, max: 300 }),
  optimizer: fc.constantFrom<NonNullable<RunConfigInput['optimizer']>[]>(
    { kind: 'adam', learningRate: 0.02 },
    { kind: 'sgd', learningRate: 0.05, momentum: 0.9, weightDecay: 0.01 },
    { kind: 'lion', learningRate: 0.01 },
  ),
  compression: fc.constantFrom('none' as const, 'none' as const, 'bfloat16' as const),
  seed: fc.integer({ min: 0, max: 1000 }),
});
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

/** A branch and a sum; if shared, both branches are the same layer. */
function createNetwork({ widths, isNormalized, isShared, isPenalised }: Network, seed: number): LayersModel {
  const regularizer = isPenalised ? { kernelRegularizer: tf.regularizers.l2({ l2: 0.1 }) } : {};
  const input = tf.input({ shape: [4] });
  let x = input;
  for (const units of widths) {
    x = tf.layers.dense({ units, activation: 'tanh', ...regularizer }).apply(x) as typeof input;
    if (isNormalized) x = tf.layers.batchNormalization({}).apply(x) as typeof input;
    const branch = tf.layers.dense({ units, activation: 'elu' });
    const other = isShared ? branch : tf.layers.dense({ units, activation: 'sigmoid' });
    x = tf.layers.add().apply([branch.apply(x), other.apply(branch.apply(x))] as (typeof input)[]) as typeof input;
  }
  const model = tf.model({ inputs: input, outputs: tf.layers.dense({ units: 3 }).apply(x) as typeof input });
  const generator = new Generator(seed, 'network');
  for (const weight of model.trainableWeights) {
    const values = new Float32Array(weight.shape.reduce<number>((size, n) => size * (n ?? 1), 1));
    generator.fillNormal(values);
    tf.tidy(() => void weight.write(tf.tensor(values, weight.shape as number[]).div(2)));
  }
  return model;
}

function inputOf({ members, batchSize, bucketBytes, optimizer, compression }: Case, stage: number): RunConfigInput {
  return { members, batchSize, optimizer, strategy: { kind: 'sharded', stage, bucketBytes, compression } };
}

async function train(drawn: Case, stage: number) {
  const input = inputOf(drawn, stage);
  const ranks = await createRanks(input, { create: (seed) => createNetwork(drawn.network, seed + drawn.seed) });
  await trainRanks(ranks, input, { to: 12 });
  const weights = await wholeWeights(ranks);
  const losses = ranks.map(({ outcomes }) => outcomes.map(({ loss }) => loss));
  await Promise.all(ranks.map(async ({ strategy }) => await strategy.assemble?.()));
  for (const { member, strategy } of ranks) {
    tf.dispose([...(strategy.state?.().tensors.values() ?? [])]);
    member.model.dispose();
  }
  return { weights, losses };
}

const sgd = { kind: 'sgd', learningRate: 0.1 } as const;

describe.each(['cpu', 'wasm'] as const)('the stages of sharded training on %s', (backend) => {
  beforeAll(async () => void (await startBackend(backend)));

  it('give the same bits, whatever the layers, shared ones, shards and buckets', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (drawn) => {
        const first = await train(drawn, 1);
        expect(first.losses[0]).toHaveLength(12);
        expect(await train(drawn, 2)).toEqual(first);
        const third = await train(drawn, 3);
        expect(third.losses).toEqual(first.losses);
        // Running statistics of the first rank are everyone's after the shards were joined.
        expect(third.weights[0]).toEqual(first.weights[0]);
      }),
      { seed: 8, numRuns: 6 },
    );
  });

  it('keep no whole weight between steps in stage 3, and say so where something reads one', async () => {
    const input: RunConfigInput = { members: 2, batchSize: 5, strategy: { kind: 'sharded', stage: 3 }, optimizer: sgd };
    const [{ member, strategy }] = await createRanks(input);
    expect(() => member.variables[0].dataSync()).toThrow('A weight that lies in shards');
    const shards = [...(strategy.state?.().tensors ?? [])].filter(([name]) => name.startsWith('slice.'));
    // 51 weights: each layer's are halves, 15 of 30 and 11 of 21, padded.
    expect(shards.reduce((sum, [, { size }]) => sum + size, 0)).toBe(15 + 11);
  });

  const states = [1, 2, 3].flatMap((stage) => [
    { stage, offload: 'none' as const, statePrecision: 'float32' as const },
    { stage, offload: 'optimizer' as const, statePrecision: 'float32' as const },
    { stage, offload: 'optimizer' as const, statePrecision: 'bfloat16' as const },
    ...(stage < 3
      ? []
      : [
          {
            stage,
            offload: 'none' as const,
            statePrecision: 'bfloat16' as const,
            weightPrecision: 'bfloat16' as const,
          },
        ]),
  ]);

  it.each(states)(
    'resume from a saved state with the bits of an uninterrupted run: %o',
    async ({ stage, offload, statePrecision, weightPrecision }) => {
      const optimizer = { kind: 'adam', learningRate: 0.02, statePrecision } as const;
      const input: RunConfigInput = {
        members: 3,
        batchSize: 4,
        strategy: { kind: 'sharded', stage, offload, weightPrecision },
        optimizer,
      };
      const through = await createRanks(input);
      await trainRanks(through, input, { to: 6 });
      const saved = await Promise.all(through.map(async ({ strategy }) => await savedState(strategy)));
      const [weights] = await wholeWeights(through);
      await trainRanks(through, input, { from: 6, to: 12 });
      // In stage 3, the saved states have the weights. The other place takes the state of the first.
      const create = stage === 3 ? undefined : () => createModelOf(weights);
      const elsewhere = offload === 'none' ? 'optimizer' : 'none';
      const other: RunConfigInput = {
        ...input,
        strategy: { kind: 'sharded', stage, offload: elsewhere, weightPrecision },
      };
      const expected = await wholeWeights(through);
      for (const config of [input, other]) {
        const again = await createRanks(config, { saved, create });
        await trainRanks(again, config, { from: 6, to: 12 });
        expect(await wholeWeights(again)).toEqual(expected);
      }
    },
  );

  it.each(['adam', 'lamb'] as const)('keep weights as bfloat16 that train like float32 ones, with %s', async (kind) => {
    const losses: number[] = [];
    for (const weightPrecision of ['float32', 'bfloat16'] as const) {
      const strategy = { kind: 'sharded', stage: 3, weightPrecision } as const;
      const input: RunConfigInput = { members: 2, batchSize: 5, strategy, optimizer: { kind, learningRate: 0.02 } };
      const ranks = await createRanks(input);
      await trainRanks(ranks, input, { to: 60 });
      const [weights, ofOther] = await wholeWeights(ranks);
      expect(ofOther).toEqual(weights);
      // All weights have an empty lower half, which hardly any float32 weight has.
      const isPacked = [...new Uint32Array(Float32Array.from(weights).buffer)].map((bits) => (bits & 0xffff) === 0);
      expect(isPacked.every((packed) => packed)).toBe(weightPrecision === 'bfloat16');
      const last = ranks[0].outcomes.slice(-10).map(({ loss }) => loss);
      losses.push(last.reduce((sum, loss) => sum + loss, 0) / last.length);
    }
    // From a loss of about 1.2; a weight of 1 is rounded by up to 1/128.
    expect(losses[0]).toBeLessThan(0.9);
    expect(Math.abs(losses[1] - losses[0])).toBeLessThan(0.05);
  });

  it('refuse weights as bfloat16 where a layer has a constraint', async () => {
    const constrained = () =>
      tf.sequential({
        layers: [tf.layers.dense({ units: 3, inputShape: [4], kernelConstraint: tf.constraints.nonNeg() })],
      });
    const strategy = { kind: 'sharded', stage: 3, weightPrecision: 'bfloat16' } as const;
    const ranks = createRanks({ members: 1, batchSize: 5, strategy, optimizer: sgd }, { create: constrained });
    await expect(ranks).rejects.toThrow('This model has layers with constraints');
  });

  it.each([2, 3])('end on all ranks where one leaves between two buckets, stage %i', async (stage) => {
    const input: RunConfigInput = {
      members: 3,
      batchSize: 5,
      strategy: { kind: 'sharded', stage, bucketBytes: 40 },
      optimizer: sgd,
    };
    const ranks = await createRanks(input);
    await trainRanks(ranks, input, { to: 2 });
    const leaving = ranks[1].group;
    const reduceScatter = leaving.reduceScatter.bind(leaving);
    let calls = 0;
    leaving.reduceScatter = async (...call) => {
      calls += 1;
      // The hub tells all ranks that one has left.
      if (calls === 2) for (const { group } of ranks) group.fail(new CollectiveError('Rank 1 left.'));
      return await reduceScatter(...call);
    };
    const { numTensors } = tf.memory();
    const batch = gatherBatch(dataset, Int32Array.of(0, 1));
    const results = await Promise.allSettled(
      ranks.map(({ member, strategy }) =>
        strategy.trainStep(member, batch, { learningRate: 1 }, { epoch: 0, step: 2, totalSteps: 3 }),
      ),
    );
    for (const result of results) expect(String((result as PromiseRejectedResult).reason)).toContain('Rank 1 left.');
    // What the pass had saved is free again.
    expect(tf.memory().numTensors).toBe(numTensors);
  });
});
