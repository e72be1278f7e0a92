import { beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { groupsOfVariables } from '../../../workers/strategies/hdet/scalars.ts';
import { tf, type LayersModel } from '../../../workers/tensorflow/tf.ts';
import { createModel, createRanks, largestDifference, savedState, trainRanks, weightsOf } from './ranks.ts';

beforeAll(async () => void (await startBackend('cpu')));

const base: RunConfigInput = {
  members: 2,
  batchSize: 5,
  optimizer: { kind: 'adam', learningRate: 0.02 },
  schedule: { kind: 'one-cycle' },
};
const hdet = (options: object): RunConfigInput => ({ ...base, strategy: { kind: 'hdet', ...options } as never });

async function train(input: RunConfigInput, to = 40, create?: (seed: number) => LayersModel) {
  const ranks = await createRanks(input, { create, totalSteps: to });
  await trainRanks(ranks, input, { to });
  return ranks;
}

const ratesOf = (outcomes: { learningRate?: number }[]) => outcomes.map(({ learningRate }) => learningRate ?? NaN);

describe('HDET', () => {
  it.each([2, 3])('without spread equals data-parallel training of %i ranks, bit for bit', async (members) => {
    const divergent = await train({ ...hdet({ spread: 0, averageEverySteps: 5 }), members });
    const parallel = await train({ ...base, members, strategy: { kind: 'data-parallel' } });
    expect(divergent.map(weightsOf)).toEqual(parallel.map(weightsOf));
  });

  it('spreads the schedule from the first step: with α = 0.3, ranks 0 and 1 get 0.7 and 1.3 of it', async () => {
    const [first, second] = await train(hdet({ spread: 0.3, averageEverySteps: 100, adapt: false }), 10);
    // One-cycle starts at 0.02/25.
    expect(ratesOf(first.outcomes)[0]).toBeCloseTo(0.7 * 0.0008, 10);
    expect(ratesOf(second.outcomes)[0]).toBeCloseTo(1.3 * 0.0008, 10);
    first.outcomes.forEach((_, step) =>
      expect(ratesOf(second.outcomes)[step] / ratesOf(first.outcomes)[step]).toBeCloseTo(1.3 / 0.7, 10),
    );
  });

  it('averages weights every T steps, and lets them drift in between', async () => {
    const input = hdet({ spread: 0.3, averageEverySteps: 10, adapt: false });
    const ranks = await createRanks(input, { totalSteps: 40 });
    await trainRanks(ranks, input, { to: 9 });
    expect(weightsOf(ranks[0])).not.toEqual(weightsOf(ranks[1]));
    await trainRanks(ranks, input, { from: 9, to: 10 });
    expect(weightsOf(ranks[0])).toEqual(weightsOf(ranks[1]));
    const events = ranks.map(({ strategy }) => strategy.events?.() ?? []);
    expect(events[0].map(({ kind }) => kind)).toEqual(['effective-batch', 'sync']);
    const [distance, other] = events.map(([, sync], rank) => sync.points.get(`train/member_${rank}_weight_distance`));
    expect(distance).toBeGreaterThan(0);
    // Two ranks are equally far from their mean.
    expect(other).toBeCloseTo(distance ?? NaN, 6);
  });

  it("reports each rank's distance from the mean before averaging: ‖w − w̄‖ / ‖w̄‖ over all weights", async () => {
    const options = { spread: 0.3, adapt: false };
    const apart = (await train(hdet({ ...options, averageEverySteps: 100 }), 10)).map((rank) => weightsOf(rank).flat());
    const mean = apart[0].map((weight, index) => (weight + apart[1][index]) / 2);
    const norm = (values: number[]): number => Math.hypot(...values);
    const averaged = await train(hdet({ ...options, averageEverySteps: 10 }), 10);
    for (const [rank, weights] of apart.entries()) {
      const sync = averaged[rank].strategy.events?.().find(({ kind }) => kind === 'sync');
      const expected = norm(weights.map((weight, index) => weight - mean[index])) / norm(mean);
      expect((sync?.points.get(`train/member_${rank}_weight_distance`) ?? NaN) / expected).toBeCloseTo(1, 4);
    }
  });

  it('adapts after the warm-up: rates leave the schedule and fall to about its last rate', async () => {
    const ranks = await train(hdet({ spread: 0.3, averageEverySteps: 4, adaptation: 0 }), 40);
    const mean = ratesOf(ranks[0].outcomes).map((rate, step) => (rate + ratesOf(ranks[1].outcomes)[step]) / 2);
    // The peak is step 11, so the sync after step 12 is the first to adapt. There the schedule has just left 0.02.
    expect(mean[11]).toBeCloseTo(0.02, 8);
    const decay = mean[16] / mean[12];
    for (let sync = 12; sync + 4 < 40; sync += 4) expect(mean[sync + 4] / mean[sync]).toBeCloseTo(decay, 6);
    // After the last sync before the end: 0.02 / (25 * 10,000).
    expect(mean[39]).toBeCloseTo(8e-8, 12);
    const syncs = ranks[0].strategy.events?.() ?? [];
    expect(syncs.at(-1)?.points.get('train/base_learning_rate')).toBeGreaterThan(0);
    expect(syncs.at(-1)?.points.has('train/velocity_learning_rate')).toBe(true);
  });

  it('follows the schedule until the first sync that adapts, also in a state that is resumed before', async () => {
    const input = hdet({ spread: 0.3, averageEverySteps: 10, warmupSteps: 15 });
    const ranks = await createRanks(input, { totalSteps: 40 });
    const follow = () => ranks.map(({ strategy }) => strategy.followsSchedule?.());
    await trainRanks(ranks, input, { to: 10 });
    expect(follow()).toEqual([true, true]);
    await trainRanks(ranks, input, { from: 10, to: 20 });
    expect(follow()).toEqual([false, false]);
  });

  it('trains ranks independently between syncs when gradients are not averaged', async () => {
    const ranks = await createRanks(hdet({ spread: 0, gradientSync: false, averageEverySteps: 3 }));
    await trainRanks(ranks, base, { to: 2 });
    expect(weightsOf(ranks[0])).not.toEqual(weightsOf(ranks[1]));
    await trainRanks(ranks, base, { from: 2, to: 3 });
    expect(weightsOf(ranks[0])).toEqual(weightsOf(ranks[1]));
  });

  it('evaluates the mean of the ranks, and continues from their own weights', async () => {
    const ranks = await train(hdet({ spread: 0.3, averageEverySteps: 100 }), 5);
    const own = ranks.map(weightsOf);
    const restores = await Promise.all(ranks.map(async ({ strategy }) => await strategy.assemble?.()));
    const mean = own[0].map((weight, i) => (weight + own[1][i]) / 2);
    for (const rank of ranks) expect(largestDifference(weightsOf(rank), mean)).toBeLessThan(1e-7);
    for (const restore of restores) restore?.();
    expect(ranks.map(weightsOf)).toEqual(own);
  });

  it('resumes exactly from its saved state', async () => {
    const input = {
      ...hdet({ spread: 0.3, averageEverySteps: 4 }),
      optimizer: { kind: 'sgd', learningRate: 0.1 },
    } as const;
    const through = await createRanks(input, { totalSteps: 30 });
    await trainRanks(through, input, { to: 18 });
    const saved = await Promise.all(
      through.map(async ({ strategy }) => JSON.parse(JSON.stringify(await savedState(strategy)))),
    );
    const models = through.map(({ member }) => member.model.getWeights().map((weight) => weight.clone()));
    await trainRanks(through, input, { from: 18, to: 30 });
    const create = (seed: number): LayersModel => {
      const model = createModel(seed);
      model.setWeights(models[seed - 42]);
      return model;
    };
    const resumed = await createRanks(input, { create, saved, totalSteps: 30 });
    await trainRanks(resumed, input, { from: 18, to: 30 });
    expect(resumed.map(weightsOf)).toEqual(through.map(weightsOf));
  });
});

it('follows the schedule and the configured bases again where a resume ends the adaptation', async () => {
  const adapting = { spread: 0.3, averageEverySteps: 4, diverge: ['learningRate', 'weightDecay'], adaptation: 5 };
  const optimizer = { kind: 'adamw', learningRate: 0.02, weightDecay: 0.1 } as const;
  const input: RunConfigInput = { ...hdet(adapting), optimizer };
  const ranks = await createRanks(input, { totalSteps: 30 });
  await trainRanks(ranks, input, { to: 20 });
  const saved = await Promise.all(ranks.map(({ strategy }) => savedState(strategy)));
  const ended: RunConfigInput = {
    ...hdet({ ...adapting, adapt: false }),
    optimizer: { ...optimizer, learningRate: 0.5, weightDecay: 0.3 },
    schedule: { kind: 'constant' },
  };
  const resumed = await createRanks(ended, { saved, totalSteps: 30 });
  await trainRanks(resumed, ended, { from: 20, to: 21 });
  const rates = resumed.flatMap(({ outcomes }) => ratesOf(outcomes));
  expect(rates[0] + rates[1]).toBeCloseTo(2 * 0.5, 10);
  const decays = resumed.map(
    ({ strategy }, rank) => strategy.points?.().get(`train/member_${rank}_weight_decay`) ?? NaN,
  );
  expect(decays[0] + decays[1]).toBeCloseTo(2 * 0.3, 10);
});

describe('a diverging hyperparameter', () => {
  const withDropout = (seed: number): LayersModel => {
    const trained = createModel(seed);
    const model = tf.sequential({ layers: [trained.layers[0], tf.layers.dropout({ rate: 0.4 }), trained.layers[1]] });
    return model;
  };

  it('may be one of several scalars, each permuted independently: decay, dropout, label smoothing', async () => {
    const input: RunConfigInput = {
      ...hdet({
        spread: 0.5,
        averageEverySteps: 4,
        diverge: ['learningRate', 'weightDecay', 'dropout', 'labelSmoothing', 'temperature'],
      }),
      optimizer: { kind: 'adamw', learningRate: 0.02, weightDecay: 0.1 },
      loss: { labelSmoothing: 0.2, temperature: 2 },
    };
    const ranks = await createRanks(input, { create: withDropout, totalSteps: 8 });
    await trainRanks(ranks, input, { to: 1 });
    const points = ranks[0].strategy.points?.() ?? new Map<string, number>();
    expect(points.get('train/member_0_weight_decay')).toBeCloseTo(0.05, 10);
    expect(points.get('train/member_0_dropout')).toBeCloseTo(0.5, 10);
    expect(points.get('train/member_0_label_smoothing')).toBeCloseTo(0.1, 10);
    expect(points.get('train/member_0_temperature')).toBeCloseTo(1, 10);
    const rate = (rank: number) => (ranks[rank].member.model.layers[1] as unknown as { rate: number }).rate;
    expect([rate(0), rate(1)]).toEqual([0.2, expect.closeTo(0.6, 10)]);
  });

  it('may depend on the parameter group: the head has other rates', async () => {
    const input = hdet({
      spread: 0.3,
      averageEverySteps: 2,
      warmupSteps: 1,
      groups: [{ name: 'head', weights: '^dense_1/' }],
    });
    const ranks = await train(input, 12);
    const syncs = (ranks[0].strategy.events?.() ?? []).filter(({ kind }) => kind === 'sync');
    const last = syncs[1];
    expect([...last.points.keys()].filter((name) => name.startsWith('train/base'))).toEqual([
      'train/base_learning_rate',
      'train/base_learning_rate_head',
    ]);
    expect(last.points.get('train/base_learning_rate')).not.toBe(last.points.get('train/base_learning_rate_head'));
  });

  it('groups weights by the first matching pattern, and refuses a pattern that matches none', () => {
    const model = createModel(1);
    expect(groupsOfVariables(model, [{ name: 'head', weights: 'dense_1' }])).toEqual([null, null, 'head', 'head']);
    const biases = { name: 'biases', weights: 'bias$' };
    expect(groupsOfVariables(model, [biases, { name: 'head', weights: 'dense_1' }])).toEqual([
      null,
      'biases',
      'head',
      'biases',
    ]);
    expect(() => groupsOfVariables(model, [{ name: 'stem', weights: 'conv' }])).toThrow(
      'Parameter group "stem" has no weights: "conv" matches none of dense_0/kernel',
    );
    expect(() => groupsOfVariables(model, [{ name: 'stem', weights: '(' }])).toThrow('is not a regular expression');
  });

  it('cannot be dropout in a model without dropout, or an unknown name', async () => {
    await expect(createRanks(hdet({ diverge: ['dropout'] }))).rejects.toThrow('the model has no dropout layer');
    await expect(createRanks(hdet({ diverge: ['width'] }))).rejects.toThrow('cannot diverge in "width"');
  });
});
