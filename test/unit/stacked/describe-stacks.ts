import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { type SymbolicTensor, tf } from '../../../workers/tensorflow/tf.ts';
import { batch, createMembers, largestDifference, type Recipe, slotsOf, train, weightsOf } from './stacks.ts';
import { notRun } from '../../environment/reasons.ts';

const { layers } = tf;
const dense = { units: 6, activation: 'relu' as const, inputShape: [5] };

const recipes: Record<string, Recipe> = {
  'dense layers with ReLU, tanh and no bias': {
    create: () =>
      tf.sequential({
        layers: [
          layers.dense(dense),
          layers.dense({ units: 7, activation: 'tanh', useBias: false }),
          layers.dense({ units: 3 }),
        ],
      }),
  },
  'dropout, each member by its own seed': {
    create: () =>
      tf.sequential({ layers: [layers.dense(dense), layers.dropout({ rate: 0.4 }), layers.dense({ units: 3 })] }),
  },
  'two dropouts in branches that are added': {
    create: () => {
      const x = tf.input({ shape: [5] });
      const branch = (rate: number): SymbolicTensor =>
        layers.dropout({ rate }).apply(layers.dense({ units: 5, activation: 'elu' }).apply(x)) as SymbolicTensor;
      const sum = layers.add().apply([branch(0.2), x, branch(0.5)]) as SymbolicTensor;
      return tf.model({ inputs: x, outputs: layers.dense({ units: 3 }).apply(sum) as SymbolicTensor });
    },
  },
  'one layer that is called twice': {
    create: () => {
      const x = tf.input({ shape: [5] });
      const shared = layers.dense({ units: 5, activation: 'relu' });
      const twice = shared.apply(shared.apply(x)) as SymbolicTensor;
      return tf.model({ inputs: x, outputs: layers.dense({ units: 3 }).apply(twice) as SymbolicTensor });
    },
  },
  'SGD with momentum and weight decay': {
    create: () => tf.sequential({ layers: [layers.dense(dense), layers.dense({ units: 3 })] }),
    optimizer: { kind: 'sgd', momentum: 0.9, nesterov: true, weightDecay: 0.01 },
  },
  'samples that all members share': {
    create: () => tf.sequential({ layers: [layers.dense(dense), layers.dense({ units: 3 })] }),
    optimizer: { kind: 'adamw' },
    sharesBatches: true,
  },
  'batch and layer normalisation': {
    create: () =>
      tf.sequential({
        layers: [
          layers.dense(dense),
          layers.batchNormalization(),
          layers.layerNormalization(),
          layers.dense({ units: 3 }),
        ],
      }),
  },
  'dense layers on sequences, dropout and normalisation before them': {
    create: () =>
      tf.sequential({
        layers: [
          layers.reshape({ targetShape: [5, 1], inputShape: [5] }),
          layers.dropout({ rate: 0.3 }),
          layers.dense({ units: 4, activation: 'sigmoid' }),
          layers.layerNormalization({ epsilon: 0.01 }),
          layers.flatten(),
          layers.dense({ units: 3 }),
        ],
      }),
    sharesBatches: true,
  },
};

const images: Recipe = {
  create: () =>
    tf.sequential({
      layers: [
        layers.conv2d({ filters: 4, kernelSize: 3, activation: 'relu', inputShape: [6, 6, 2] }),
        layers.maxPooling2d({ poolSize: 2 }),
        layers.flatten(),
        layers.dense({ units: 3 }),
      ],
    }),
};

/**
 * Compares members in one computation with separate members over 30 steps.
 * @param missing why the backend cannot run here, or null
 */
export function describeStacks(backend: 'cpu' | 'wasm' | 'tensorflow', missing: string | null = null): void {
  describe.skipIf(missing !== null)(`three members in one computation on ${backend}${notRun(missing)}`, () => {
    beforeAll(async () => void (await startBackend(backend)));

    it.each(Object.entries(recipes))('equal separate members: %s', async (_, recipe) => {
      const { sharesBatches = false } = recipe;
      await expectAlike(recipe, (member, step) => batch(100 * (sharesBatches ? 0 : member) + step, [5]));
    });

    it('equal separate members: convolution and pooling', async () => {
      await expectAlike(images, (member, step) => batch(100 * member + step, [6, 6, 2]));
    });
  });
}

async function expectAlike(recipe: Recipe, batchOf: Parameters<typeof train>[1]): Promise<void> {
  const [alone, stacked] = [await createMembers(recipe, false), await createMembers(recipe, true)];
  const expected = await train(alone, batchOf, { to: 30 });
  const actual = await train(stacked, batchOf, { to: 30 });
  for (const [m, outcomes] of expected.entries()) {
    const [losses, own] = [outcomes, actual[m]].map((of) => of.map(({ loss }) => loss));
    expect(largestDifference(losses, own)).toBeLessThan(1e-5);
    expect(largestDifference(weightsOf(alone[m]), weightsOf(stacked[m]))).toBeLessThan(1e-4);
    expect(largestDifference(slotsOf(alone[m]), slotsOf(stacked[m]))).toBeLessThan(1e-4);
    expect(stacked[m].member.optimizer.steps).toEqual(alone[m].member.optimizer.steps);
  }
}
