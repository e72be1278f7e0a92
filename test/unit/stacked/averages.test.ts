import { beforeAll, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';
import { batch, createMembers, largestDifference, type TestMember, train, weightsOf } from './stacks.ts';

beforeAll(async () => void (await startBackend('wasm')));

/** Dense layers are one computation, the other one runs member by member. */
const create = () =>
  tf.sequential({
    layers: [
      tf.layers.dense({ units: 5, activation: 'tanh', inputShape: [4] }),
      tf.layers.prelu(),
      tf.layers.dense({ units: 3 }),
    ],
  });

/** The loss of the second member is not finite in the first two steps: it has fewer averages than the others. */
const batchOf = (member: number, step: number) => {
  const own = batch(10 * step + member, [4]);
  return member === 1 && step < 2 ? { ...own, features: own.features.map(() => NaN) } : own;
};

function averagedWeights(members: readonly TestMember[]): number[][] {
  return members.map((own) => {
    const restore = own.member.average?.exchange();
    const weights = weightsOf(own);
    restore?.();
    return weights;
  });
}

it('stacked members have the averages of separate ones, also where one makes fewer updates', async () => {
  const recipe = { create, averageDecay: 0.8 };
  const [alone, stacked] = [await createMembers(recipe, false), await createMembers(recipe, true)];
  for (const [from, to] of [
    [0, 4],
    [4, 8],
  ] as const) {
    await train(alone, batchOf, { from, to });
    await train(stacked, batchOf, { from, to });
    const expected = averagedWeights(alone);
    averagedWeights(stacked).forEach((weights, m) => {
      expect(largestDifference(weights, expected[m])).toBeLessThan(1e-5);
      expect(largestDifference(weights, weightsOf(stacked[m]))).toBeGreaterThan(1e-3);
    });
    expect(stacked.map(({ member }) => member.average?.updates)).toEqual([to, to - 2, to]);
  }
});

it('averages of stacked members leak no tensor', async () => {
  const members = await createMembers({ create, averageDecay: 0.8 }, true);
  await train(members, batchOf, { from: 2, to: 4 });
  const before = tf.memory().numTensors;
  await train(members, batchOf, { from: 4, to: 8 });
  averagedWeights(members);
  expect(tf.memory().numTensors).toBe(before);
});
