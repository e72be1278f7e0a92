import { beforeAll, describe, expect, it } from 'vitest';
import { optimizerSchema } from '../../../core/protocol/run/optimizer-config.ts';
import { type RunConfigInput, runConfigSchema } from '../../../core/protocol/run/config.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { createSampler } from '../../../workers/data/samplers.ts';
import { createDataset, gatherBatch } from '../../../workers/data/dataset.ts';
import { batchEnsemble, mimo, tf } from '../../../workers/index.ts';
import { requireEvenBatches, requireInnerMembers } from '../../../workers/member/tasks/inner-members.ts';
import { type LossFunction, Member } from '../../../workers/member/member.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { taskLoss } from '../../../workers/member/weighted-loss.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import type { LayersModel, SymbolicTensor, Tensor } from '../../../workers/tensorflow/tf.ts';

beforeAll(() => startBackend('cpu'));

const hard = { labelSmoothing: 0, temperature: 1 };
const position = { epoch: 0, step: 0, totalSteps: 1 };
const data = createDataset({
  name: 'points',
  featureShape: [2],
  features: Float32Array.of(1, 2, -3, 4, 0.5, -1, 2, 2),
  targets: Int32Array.of(0, 1, 2, 1),
  classCount: 3,
  weights: Float32Array.of(1, 2, 0, 0.5),
});
const batch = gatherBatch(data, Int32Array.of(0, 1, 2, 3));
const labels = [...data.targets];

const classify: LossFunction = ([logits], targets, _, of) =>
  taskLoss(taskOf('classification'), [logits], targets, hard, of);
const memberOf = (model: LayersModel, loss = classify): Member =>
  new Member(model, loss, (variables) => createOptimizer(optimizerSchema.parse({ kind: 'sgd' }), variables));

function sharing(members: number, training: 'repeat' | 'split'): LayersModel {
  const { inputs, dense, outputs } = batchEnsemble({ members, training });
  return tf.sequential({
    layers: [inputs({ inputShape: [2] }), dense({ units: 3 }), outputs({ task: 'classification' })],
  });
}

function mimoNetwork(options: Parameters<typeof mimo>[0]): LayersModel {
  const { inputs, heads, outputs } = mimo(options);
  const input = tf.input({ shape: [2] });
  const logits = heads({ units: 3 }).apply(inputs().apply(input));
  return tf.model({ inputs: input, outputs: outputs({ task: 'classification' }).apply(logits) as SymbolicTensor });
}

/** −log p of the label of each sample and member, `[M][B]`, by the model's layers in inference. */
function lossesOf(model: LayersModel, members: number): number[][] {
  const [{ inputs }] = model.outputs;
  const logits = tf
    .model({ inputs: model.inputs, outputs: inputs })
    .predict(tf.tensor2d(batch.features, [4, 2])) as Tensor;
  const log = tf.reshape(tf.logSoftmax(logits), [members, 4, 3]).arraySync() as number[][][];
  return log.map((own) => own.map((row, sample) => -row[labels[sample]]));
}

const meanOf = (values: number[]): number => values.reduce((sum, value) => sum + value / values.length, 0);

describe('a network with inner members', () => {
  it('learns the mean of the losses of all members, with the weights of the samples', async () => {
    const models: [number, LayersModel][] = [
      [3, sharing(3, 'repeat')],
      [2, mimoNetwork({ members: 2, batchRepetitions: 2, inputRepetition: 1 })],
    ];
    for (const [members, model] of models) {
      const losses = lossesOf(model, members);
      const expected = meanOf(losses.flatMap((own) => own.map((loss, i) => loss * [1, 2, 0, 0.5][i])));
      const { loss, gradients } = await memberOf(model).lossAndGradients(batch, position);
      expect(loss).toBeCloseTo(expected, 5);
      expect(gradients).not.toContain(null);
    }
  });

  it('learns the mean of the losses of members that share a batch', async () => {
    const model = sharing(2, 'split');
    const [first, second] = lossesOf(model, 2);
    const expected = meanOf([first[0], 2 * first[1], 0 * second[2], 0.5 * second[3]]);
    expect((await memberOf(model).lossAndGradients(batch, position)).loss).toBeCloseTo(expected, 5);
  });

  it('learns mixed targets in the shares of the mixture', async () => {
    const model = sharing(2, 'repeat');
    const losses = lossesOf(model, 2).flatMap((own) => own.map((loss, i) => loss * [1, 2, 0, 0.5][i]));
    // Every sample is mixed with itself.
    const partner = { targets: batch.targets, weights: batch.weights };
    const mixed = { ...batch, mixed: { share: 0.7, partner } };
    expect((await memberOf(model).lossAndGradients(mixed, position)).loss).toBeCloseTo(meanOf(losses), 5);
  });

  it("gives a project's loss a row of all values for each prediction", async () => {
    const seen: number[][] = [];
    const loss: LossFunction = ([output], targets, _, { inputs, weights }) => {
      seen.push(output.shape, targets.shape, inputs.features.shape, weights?.shape ?? []);
      return tf.mean(output);
    };
    await memberOf(mimoNetwork({ members: 2, batchRepetitions: 3 }), loss).lossAndGradients(batch, position);
    expect(seen).toEqual([[24, 3], [24], [24, 2], [24]]);
  });
});

const config = (changes: RunConfigInput = {}) => runConfigSchema.parse(changes);
const require = (model: LayersModel, changes?: RunConfigInput, kind = 'classification' as const): void =>
  requireInnerMembers(model, taskOf(kind), config(changes));

describe('a network with inner members is refused', () => {
  it.each<[string, RunConfigInput, LayersModel?]>([
    ['the strategy joint, whose members exchange', { strategy: { kind: 'joint' } }],
    ['the strategy coupled, whose members exchange', { strategy: { kind: 'coupled' } }],
    ['membersPerDevice 2', { membersPerDevice: 2 }],
  ])('with %s', (message, changes) => {
    expect(() => require(sharing(2, 'repeat'))).not.toThrow();
    expect(() => require(sharing(2, 'repeat'), changes)).toThrow(message);
  });

  it('with batches of different sizes that it would have to split', () => {
    const uneven = { strategy: { kind: 'data-parallel' as const } };
    expect(() => require(sharing(2, 'repeat'), uneven)).not.toThrow();
    expect(() => require(sharing(2, 'split'), uneven)).toThrow('training "split" with the strategy data-parallel');
    const sampler = (batchSize: number, dropLast: boolean) =>
      createSampler({
        kind: 'shuffled',
        length: 22,
        batchSize,
        dropLast,
        seed: 1,
        sharedSeed: 1,
        rank: 0,
        worldSize: 1,
      });
    expect(() => requireEvenBatches(sharing(4, 'split'), sampler(8, true))).not.toThrow();
    expect(() => requireEvenBatches(sharing(4, 'repeat'), sampler(7, false))).not.toThrow();
    expect(() => requireEvenBatches(sharing(4, 'split'), sampler(8, false))).toThrow(
      'A batch of the training split has 6 samples, which cannot be split evenly over the 4 members',
    );
  });

  it('where its layers do not belong together', () => {
    const two = batchEnsemble({ members: 2 });
    const three = batchEnsemble({ members: 3 });
    const last = two.outputs({ task: 'classification' });
    const mixed = tf.sequential({
      layers: [two.inputs({ inputShape: [2] }), three.dense({ units: 3, name: 'odd' }), last],
    });
    expect(() => require(mixed)).toThrow('Layer "odd" has 3 members, but layer');
    const without = tf.sequential({ layers: [two.inputs({ inputShape: [2] }), two.dense({ units: 3, name: 'end' })] });
    expect(() => require(without)).toThrow(
      `Output 0 of the model, layer "end", does not predict the mean of the inner members. End it in outputs({ ` +
        `task: 'classification' })`,
    );
    const other = tf.sequential({
      layers: [two.inputs({ inputShape: [2] }), two.outputs({ task: 'binary', name: 'end' })],
    });
    expect(() => require(other)).toThrow('layer "end", predicts the mean for the task binary');
    const unfed = tf.sequential({
      layers: [two.dense({ units: 3, inputShape: [2] }), two.outputs({ task: 'classification' })],
    });
    expect(() => require(unfed)).toThrow('The model has 0 layers inputs() of batchEnsemble or mimo');
    const nested = tf.sequential({ layers: [sharing(2, 'repeat')] });
    expect(() => require(nested)).toThrow('of inner members is inside of layer');
  });
});
