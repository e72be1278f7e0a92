import { beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../../core/protocol/run/config.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { predict } from '../../../../workers/member/predict.ts';
import { taskOf } from '../../../../workers/member/tasks.ts';
import { readWeights } from '../../../../workers/member/weights.ts';
import type { SpreadModel } from '../../../../workers/strategies/strategy.ts';
import { tf, type LayersModel } from '../../../../workers/tensorflow/tf.ts';
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
