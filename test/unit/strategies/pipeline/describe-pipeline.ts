import { beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../../core/protocol/run/config.ts';
import { gatherBatch } from '../../../../workers/data/dataset.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { predict } from '../../../../workers/member/predict.ts';
import { taskOf } from '../../../../workers/member/tasks.ts';
import { readWeights } from '../../../../workers/member/weights.ts';
import type { SpreadModel } from '../../../../workers/strategies/strategy.ts';
import { tf, type LayersModel, type Scalar, type Tensor, type Variable } from '../../../../workers/tensorflow/tf.ts';
import {
  createStages,
  dataset,
  deepModel,
  largestDifference,
  skippingModel,
  type Stage,
  trainStages,
} from './pipelined.ts';

const base: RunConfigInput = { batchSize: 10, optimizer: { kind: 'adam', learningRate: 0.01 } };
const pipeline = (members: number, more: object = {}): RunConfigInput => ({
  ...base,
  members,
  strategy: { kind: 'pipeline', microBatches: 4, ...more },
});

function spreadOf({ strategy }: Stage): SpreadModel {
  if (strategy.spread === undefined) throw new Error('The strategy spreads no model.');
  return strategy.spread;
}

async function wholeWeights(stages: readonly Stage[]) {
  const [all] = await Promise.all(stages.map((stage) => spreadOf(stage).readWeights()));
  return all;
}

/** Batch normalization of the features, and between layers. */
function normalizingModel(): LayersModel {
  const { dense, batchNormalization } = tf.layers;
  return tf.sequential({
    layers: [
      batchNormalization({ momentum: 0.5, inputShape: [6] }),
      dense({ units: 6, activation: 'tanh' }),
      batchNormalization({ momentum: 0.5 }),
      dense({ units: 3 }),
    ],
  });
}

/**
 * One step of gradient descent on the mean loss of micro-batches of equal size, each of which passes through the model
 * alone.
 */
function trainByHand(model: LayersModel, parts: readonly (readonly [Tensor, Tensor])[], learningRate: number): void {
  const variables = model.trainableWeights.map((weight) => weight.read() as Variable);
  const sums = new Map<string, Tensor>();
  for (const [features, targets] of parts) {
    const { grads } = tf.variableGrads((): Scalar => {
      const outputs = model.apply(features, { training: true }) as Tensor;
      return tf.neg(tf.mean(tf.sum(tf.mul(targets, tf.logSoftmax(outputs)), 1)));
    }, variables);
    for (const [name, gradient] of Object.entries(grads)) {
      sums.set(name, tf.add(sums.get(name) ?? 0, tf.div(gradient, parts.length)));
    }
  }
  for (const variable of variables) {
    variable.assign(tf.sub(variable, tf.mul(sums.get(variable.name) ?? 0, learningRate)));
  }
}

function rowsFrom(start: number, count: number): [features: Tensor, targets: Tensor] {
  const rows = Int32Array.from({ length: count }, (_, i) => start + i);
  const { features, targets } = gatherBatch(dataset, rows);
  return [tf.tensor2d(features, [count, 6]), tf.oneHot(tf.tensor1d(targets as Int32Array, 'int32'), 3)];
}

/** Mean of each of the six features over some samples. */
function meansOf(start: number, count: number): number[] {
  const { features } = gatherBatch(
    dataset,
    Int32Array.from({ length: count }, (_, i) => start + i),
  );
  return Array.from({ length: 6 }, (_, feature) => {
    const own = Array.from({ length: count }, (_, row) => features[6 * row + feature]);
    return own.reduce((sum, value) => sum + value, 0) / count;
  });
}

function runningMeanOf(weights: ReadonlyMap<string, Float32Array>): Float32Array {
  const [name] = [...weights.keys()].filter((key) => key.includes('moving_mean'));
  return weights.get(name) ?? new Float32Array(0);
}

export function describePipeline(backend: 'cpu' | 'wasm'): void {
  beforeAll(async () => void (await startBackend(backend)));

  describe(`a pipeline on ${backend}`, () => {
    const cases: [string, RunConfigInput, () => LayersModel][] = [
      ['4 stages with 1f1b', pipeline(4), deepModel],
      ['4 stages with gpipe', pipeline(4, { schedule: 'gpipe' }), deepModel],
      ['3 stages by time', pipeline(3, { balance: 'time' }), skippingModel],
      ['2 stages with given cuts', pipeline(2, { cuts: ['dense_5'] }), deepModel],
      ['2 stages with more micro-batches than samples', pipeline(2, { microBatches: 16 }), deepModel],
      ['4 stages that compute activations again', { ...pipeline(4), activationCheckpointing: 'sqrt' }, deepModel],
    ];

    it.each(cases)('equals one process over 50 steps: %s', async (_, config, create) => {
      const one = { ...base, members: 1 };
      const [single] = await createStages(one, create);
      await trainStages([single], one, 50);
      const stages = await createStages(config, create);
      await trainStages(stages, config, 50);
      const losses = (of: Stage) => of.outcomes.map(({ loss }) => loss);
      for (const stage of stages) expect(largestDifference(losses(stage), losses(single))).toBeLessThan(1e-5);
      const expected = new Map((await readWeights(single.member.model)).map(({ name, data }) => [name, data]));
      const found = await wholeWeights(stages);
      expect(found.map(({ name }) => name).toSorted()).toEqual([...expected.keys()].toSorted());
      for (const { name, data } of found) {
        expect(largestDifference(data as Float32Array, expected.get(name) as Float32Array)).toBeLessThan(1e-5);
      }
    });

    it('gives the same bits with both schedules, any cuts and recomputed activations', async () => {
      const of = async (config: RunConfigInput) => {
        const stages = await createStages(config, deepModel);
        await trainStages(stages, config, 5);
        const weights = await wholeWeights(stages);
        return Object.fromEntries(weights.map(({ name, data }) => [name, [...(data as Float32Array)]]));
      };
      const expected = await of(pipeline(2, { cuts: ['dense_2'] }));
      expect(await of(pipeline(2, { cuts: ['dense_6'], schedule: 'gpipe' }))).toEqual(expected);
      expect(await of({ ...pipeline(4), activationCheckpointing: 'layers' })).toEqual(expected);
    });

    it('clips by the norm of the gradients of all stages, and averages the weights', async () => {
      const more: RunConfigInput = {
        optimizer: { kind: 'sgd', learningRate: 0.1, clipNorm: 0.05, clipValue: 0.02 },
        ema: { decay: 0.9 },
      };
      const one = { ...base, ...more, members: 1 };
      const [single] = await createStages(one, deepModel);
      await trainStages([single], one, 10);
      const config = { ...pipeline(3), ...more };
      const stages = await createStages(config, deepModel);
      await trainStages(stages, config, 10);
      const averages = stages.flatMap(({ member }) => [...(member.average?.tensors ?? [])]);
      const expected = single.member.average?.tensors;
      expect(averages).toHaveLength(expected?.size ?? 0);
      for (const [name, average] of averages) {
        const other = expected?.get(name)?.dataSync() ?? [];
        expect(largestDifference(average.dataSync(), other)).toBeLessThan(1e-6);
      }
    });

    it('computes the statistics of batch normalization in each micro-batch, and updates the running ones for each', async () => {
      const optimizer = { kind: 'sgd', learningRate: 0.1 } as const;
      const config = { ...pipeline(3, { microBatches: 2, cuts: ['dense_0', 'dense_1'] }), optimizer };
      const stages = await createStages(config, normalizingModel);
      await trainStages(stages, config, 2);
      const [single] = await createStages({ ...base, members: 1 }, normalizingModel);
      // Two steps of 10 samples are four micro-batches of 5.
      for (const step of [0, 1]) {
        const parts = [0, 1].map((part) => rowsFrom(10 * step + 5 * part, 5));
        trainByHand(single.member.model, parts, 0.1);
      }
      const found = new Map((await wholeWeights(stages)).map(({ name, data }) => [name, data as Float32Array]));
      for (const { name, data } of await readWeights(single.member.model)) {
        expect(largestDifference(found.get(name) ?? [], data as Float32Array), name).toBeLessThan(1e-6);
      }
      // Running means of the features: m = 0.5 m + 0.5 mean, from 0, after each micro-batch.
      const means = [0, 1, 2, 3].map((part) => meansOf(5 * part, 5));
      const expected = means.reduce(
        (running, mean) => running.map((m, i) => 0.5 * m + 0.5 * mean[i]),
        [0, 0, 0, 0, 0, 0],
      );
      expect(largestDifference(runningMeanOf(found), expected)).toBeLessThan(1e-6);
    });

    it('predicts as one model, on every rank', async () => {
      const config = pipeline(3);
      const stages = await createStages(config, skippingModel);
      await trainStages(stages, config, 3);
      const [single] = await createStages({ ...base, members: 1 }, skippingModel);
      const weights = new Map((await wholeWeights(stages)).map((tensor) => [tensor.name, tensor]));
      const names = (await readWeights(single.member.model)).map(({ name }) => name);
      single.member.model.setWeights(
        names.map((name) => tf.tensor(weights.get(name)?.data as Float32Array, [...(weights.get(name)?.shape ?? [])])),
      );
      const expected = await predict(single.member.model, taskOf('classification'), dataset);
      const found = await Promise.all(stages.map((stage) => spreadOf(stage).predict(dataset)));
      for (const predictions of found) expect(predictions).toEqual(expected);
    });

    it('keeps weights and the state of the optimizer where the layers are, and leaves no tensor behind', async () => {
      const config = pipeline(4, { cuts: ['dense_2', 'dense_4', 'dense_6'] });
      const stages = await createStages(config, deepModel);
      const counts = stages.map(({ member }) => member.variables.length);
      expect(counts).toEqual([4, 4, 4, 4]);
      await trainStages(stages, config, 1);
      const before = tf.memory().numTensors;
      await trainStages(stages, config, 2);
      expect(tf.memory().numTensors).toBe(before);
      expect(stages.map(({ member }) => member.optimizer.slots.size)).toEqual([8, 8, 8, 8]);
    });

    it('makes no update with a loss that is not finite, on any rank', async () => {
      const config = { ...pipeline(2), optimizer: { kind: 'sgd', learningRate: 1e25 } } as const;
      const stages = await createStages(config, deepModel);
      await trainStages(stages, config, 6);
      const updates = stages.map(({ outcomes }) => outcomes.map(({ updated }) => updated));
      expect(updates[0]).toEqual(updates[1]);
      expect(updates[0].at(-1)).toBe(false);
    });

    it.each([
      [pipeline(9), 'has 8 part(s) that can be separated, and 9 ranks need as many'],
      [pipeline(3, { cuts: ['dense_1'] }), 'strategy.cuts names 1 layer(s), and 3 ranks need 2'],
      [pipeline(2, { cuts: ['dense_0'] }), '"dense_0" is no layer where the model can be cut. Name layers of dense_1'],
      [pipeline(3, { cuts: ['dense_4', 'dense_2'] }), '"dense_2" does not come after the one before it'],
    ])('refuses cuts that cannot be made', async (config, message) => {
      await expect(createStages(config, deepModel)).rejects.toThrow(message);
    });
  });
}
