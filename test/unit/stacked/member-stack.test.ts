import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import type { Batch } from '../../../workers/data/dataset.ts';
import { describeStack } from '../../../workers/stacked/member-stack.ts';
import { requireStackable } from '../../../workers/stacked/common-stacks.ts';
import { type LayersModel, tf } from '../../../workers/tensorflow/tf.ts';
import { batch, createMembers, largestDifference, slotsOf, train, weightsOf } from './stacks.ts';

const { layers } = tf;
const dense = (units: number) =>
  tf.sequential({
    layers: [layers.dense({ units, activation: 'relu', inputShape: [5] }), layers.dense({ units: 3 })],
  });
const recipe = { create: () => dense(6) };
const batchOf = (member: number, step: number): Batch => batch(100 * member + step, [5]);

/** Checks the same steps in one computation and separately: the weights may differ only by rounding. */
async function expectAlike(of: Parameters<typeof train>[1], steps: number): Promise<void> {
  const [alone, stacked] = [await createMembers(recipe, false), await createMembers(recipe, true)];
  const expected = await train(alone, of, { to: steps });
  const actual = await train(stacked, of, { to: steps });
  expect(actual.map((outcomes) => outcomes.map(({ updated }) => updated))).toEqual(
    expected.map((outcomes) => outcomes.map(({ updated }) => updated)),
  );
  alone.forEach((member, m) => {
    expect(largestDifference(weightsOf(member), weightsOf(stacked[m]))).toBeLessThan(1e-4);
    expect(stacked[m].member.optimizer.steps).toEqual(member.member.optimizer.steps);
  });
}

describe.each(['wasm', 'cpu'] as const)('a stack of members on %s', (backend) => {
  beforeAll(async () => {
    await startBackend(backend);
    await tf.setBackend(backend);
  });

  it('skips only the update of the member whose loss is not finite', async () => {
    const withNaN = (member: number, step: number): Batch => {
      const whole = batchOf(member, step);
      if (member === 1 && step === 3) whole.features[0] = NaN;
      return whole;
    };
    await expectAlike(withNaN, 8);
  });

  it('accepts batches of different sizes', async () => {
    const uneven = (member: number, step: number): Batch =>
      batch(100 * member + step, [5], step === 2 && member > 0 ? 5 : 8);
    await expectAlike(uneven, 6);
  });
});

describe('a stack of members', () => {
  beforeAll(async () => {
    await startBackend('wasm');
    await tf.setBackend('wasm');
  });

  it('uses each member’s learning rate', async () => {
    const members = await createMembers(recipe, true);
    const before = members.map(weightsOf);
    const position = { epoch: 0, step: 0, totalSteps: 1 };
    await Promise.all(
      members.map(({ member, strategy }, m) =>
        strategy.trainStep(member, batchOf(m, 0), { learningRate: 0.01 * m }, position),
      ),
    );
    for (const { strategy } of members) await strategy.settle?.();
    // Adam's first step has the length of its learning rate wherever there is a gradient.
    members.forEach((member, m) => expect(largestDifference(before[m], weightsOf(member))).toBeCloseTo(0.01 * m, 5));
  });

  it('continues without a finished member, whose weights stay unchanged', async () => {
    const [alone, stacked] = [await createMembers(recipe, false), await createMembers(recipe, true)];
    await train(alone, batchOf, { to: 3 });
    await train(alone.slice(1), (member, step) => batchOf(member + 1, step), { from: 3, to: 6 });
    await train(stacked, batchOf, { to: 3 });
    const [first, ...others] = stacked;
    first.strategy.leave?.();
    await train(others, (member, step) => batchOf(member + 1, step), { from: 3, to: 6 });
    alone.forEach((member, m) =>
      expect(largestDifference(weightsOf(member), weightsOf(stacked[m]))).toBeLessThan(1e-5),
    );
  });

  it.each([
    { kind: 'sgd', momentum: 0.9, nesterov: true, weightDecay: 0.01 },
    { kind: 'adam', weightDecay: 0.01 },
    { kind: 'rmsprop', momentum: 0.5, centered: true },
    { kind: 'lion' },
    { kind: 'lamb' },
  ] as const)('gives each member the bits that it has alone in a stack: $kind', async (optimizer) => {
    // Sizes that are no multiples of the four lanes of a vector, so that a weight's place in the stacked array differs.
    const create = (): LayersModel => {
      const kernelRegularizer = tf.regularizers.l2({ l2: 1e-3 });
      return tf.sequential({
        layers: [
          layers.dense({ units: 7, activation: 'relu', inputShape: [5] }),
          layers.dropout({ rate: 0.2 }),
          layers.layerNormalization(),
          layers.dense({ units: 3, kernelRegularizer }),
        ],
      });
    };
    const rates = [0.01, 0.02, 0.03];
    const trained = async (chosen: readonly number[]): Promise<number[][]> => {
      const all = await createMembers({ create, optimizer }, true);
      all.forEach(({ strategy }, m) => !chosen.includes(m) && strategy.leave?.());
      for (let step = 0; step < 5; step++) {
        const position = { epoch: 0, step, totalSteps: 5 };
        const steps = chosen.map((m) =>
          all[m].strategy.trainStep(all[m].member, batchOf(m, step), { learningRate: rates[m] }, position),
        );
        await Promise.all(steps);
      }
      for (const m of chosen) await all[m].strategy.settle?.();
      return chosen.map((m) => [...weightsOf(all[m]), ...slotsOf(all[m])]);
    };
    const together = await trained([0, 1, 2]);
    expect(await trained([1, 2])).toEqual(together.slice(1));
    for (const m of [0, 1, 2]) expect(await trained([m])).toEqual([together[m]]);
  });

  it('rejects the step of every member when it fails', async () => {
    const members = await createMembers(recipe, true);
    const wrong = (member: number) => ({ ...batchOf(member, 0), targets: new Int32Array(3) });
    const settings = { learningRate: 0.01 };
    const position = { epoch: 0, step: 0, totalSteps: 1 };
    const steps = members.map(({ member, strategy }, m) => strategy.trainStep(member, wrong(m), settings, position));
    const outcomes = await Promise.allSettled(steps);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  it('leaks no tensor', async () => {
    const members = await createMembers(recipe, true);
    await train(members, batchOf, { to: 2 });
    const { numTensors } = tf.memory();
    await train(members, batchOf, { to: 12 });
    expect(tf.memory().numTensors).toBe(numTensors);
    for (const { strategy } of members) strategy.leave?.();
    // Four weights, each with Adam's two slots.
    expect(tf.memory().numTensors).toBe(numTensors - 12);
  });
});

describe('models that cannot be stacked', () => {
  it('are refused if a rank’s model differs, naming the layer', () => {
    expect(() => requireStackable([dense(6), dense(6), dense(7)], [4, 5, 6])).toThrow(
      /^The model of rank 6 differs in layer dense_Dense\d+, compared with rank 4's: .* or use --members-per-device 1\.$/,
    );
  });
});

describe('the report on a stack', () => {
  it('names the layers that do not get faster', () => {
    const model = tf.sequential({
      layers: [
        layers.conv1d({ filters: 2, kernelSize: 2, inputShape: [4, 2], name: 'edges' }),
        layers.flatten(),
        layers.layerNormalization(),
        layers.gaussianNoise({ stddev: 0.5, name: 'noise' }),
        layers.dense({ units: 3 }),
      ],
    });
    expect(describeStack(model, 8).message).toBe(
      '8 members of a worker are trained as one computation. These layers run member by member: edges, noise.',
    );
  });
});
