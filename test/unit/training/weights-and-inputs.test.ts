import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { createDataset, gatherBatch } from '../../../workers/data/dataset.ts';
import { requireInputs } from '../../../workers/member/batch-tensors.ts';
import { type LossFunction, Member } from '../../../workers/member/member.ts';
import { predict } from '../../../workers/member/predict.ts';
import type { TaskKind } from '../../../core/metrics/registry/metric.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { taskLoss } from '../../../workers/member/weighted-loss.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import { optimizerSchema } from '../../../core/protocol/run/optimizer-config.ts';
import { type SymbolicTensor, tf } from '../../../workers/tensorflow/tf.ts';

beforeAll(async () => void (await startBackend('cpu')));

const hard = { labelSmoothing: 0, temperature: 1 };

describe('taskLoss', () => {
  it('is the mean of the weighted squared errors that are not masked', async () => {
    const outputs = [tf.tensor2d([1, 2, 3, 4], [2, 2])];
    const targets = tf.tensor2d([0, 0, 0, 0], [2, 2]);
    const weighing = { weights: tf.tensor1d([1, 3]), mask: tf.tensor2d([1, 1, 0, 1], [2, 2]) };
    const loss = taskLoss(taskOf('regression'), outputs, targets, hard, weighing);
    // (1·1 + 1·4 + 3·16) / 3
    expect(await loss.data()).toEqual(Float32Array.of(53 / 3));
  });

  it.each<[TaskKind, number[], number[], 'int32' | 'float32']>([
    ['classification', [2, 3, 4], [2, 3], 'int32'],
    ['binary', [2, 3, 1], [2, 3], 'int32'],
    ['regression', [2, 3, 2], [2, 3, 2], 'float32'],
    ['heteroscedastic-regression', [2, 3, 1], [2, 3], 'float32'],
  ])('of %s with weights of 1 is the loss without weights, for stacked members too', async (kind, shape, of, dtype) => {
    const size = shape.reduce((a, b) => a * b);
    const output = tf.tensor(
      Float32Array.from({ length: size }, (_, i) => Math.sin(i) + 1.5),
      shape,
    );
    const targets = tf.tensor(Array(of.reduce((a, b) => a * b)).fill(1), of, dtype);
    const outputs = kind === 'heteroscedastic-regression' ? [output, tf.add(output, 1)] : [output];
    const softening = { labelSmoothing: 0.1, temperature: 2 };
    const task = taskOf(kind);
    const expected = await task.loss(outputs, targets, softening).data();
    const weighed = await taskLoss(task, outputs, targets, softening, { weights: tf.ones([2, 3]), mask: null }).data();
    expect(expected).toHaveLength(2);
    expected.forEach((value, member) => expect(weighed[member]).toBeCloseTo(value, 5));
  });

  it('refuses weights that a task cannot use', () => {
    const task = { ...taskOf('regression'), losses: undefined };
    const weighing = { weights: tf.ones([2]), mask: null };
    expect(() => taskLoss(task, [tf.ones([2, 1])], tf.ones([2]), hard, weighing)).toThrow(
      'The data have weights, which the loss of the task regression cannot use',
    );
  });
});

const data = createDataset({
  name: 'two inputs',
  featureShape: [2],
  features: Float32Array.of(1, 2, 3, 4),
  targets: Float32Array.of(10, 20),
  extraInputs: { scale: { shape: [1], values: Float32Array.of(5, 7) } },
  weights: Float32Array.of(1, 2),
});

/** y = x · [1, 1] + 10 · scale */
function twoInputs(name = 'scale') {
  const x = tf.input({ shape: [2] });
  const scale = tf.input({ shape: [1], name });
  const dense = (value: number) =>
    tf.layers.dense({ units: 1, useBias: false, kernelInitializer: tf.initializers.constant({ value }) });
  const sum = tf.layers.add().apply([dense(1).apply(x), dense(10).apply(scale)] as SymbolicTensor[]);
  return tf.model({ inputs: [scale, x], outputs: sum as SymbolicTensor });
}

describe('a model of two inputs', () => {
  it('predicts from the features and the input of its name', async () => {
    const { values } = await predict(twoInputs(), taskOf('regression'), data);
    expect(values).toEqual([Float32Array.of(53, 77)]);
  });

  it('trains by a loss that gets inputs, weights and rank', async () => {
    const loss: LossFunction = ([output], targets, { rank }, { inputs, weights }) =>
      tf.add(
        tf.sum(tf.mul(tf.sub(tf.reshape(output, [2]), targets), weights ?? tf.zeros([2]))),
        tf.add(tf.sum(inputs.scale), tf.add(tf.sum(inputs.features), rank ?? 0)),
      );
    const member = new Member(twoInputs(), loss, (variables) =>
      createOptimizer(optimizerSchema.parse({ kind: 'sgd' }), variables),
    );
    const batch = gatherBatch(data, Int32Array.of(0, 1));
    const found = await member.lossAndGradients(batch, { epoch: 0, step: 0, totalSteps: 1, rank: 3 });
    // 1·(53 − 10) + 2·(77 − 20) + (5 + 7) + (1 + 2 + 3 + 4) + 3
    expect(found.loss).toBe(182);
    const gradients = await Promise.all(found.gradients.map(async (gradient) => [...((await gradient?.data()) ?? [])]));
    // ∂/∂kernel of x: 1·[1, 2] + 2·[3, 4]; of scale: 1·5 + 2·7
    expect(gradients).toEqual([[7, 10], [19]]);
  });

  it('is refused by name where the data lack an input, or its shape differs', () => {
    expect(() => requireInputs(twoInputs(), data)).not.toThrow();
    expect(() => requireInputs(twoInputs('dose'), data)).toThrow('the extraInputs scale. Features go to one input.');
    const wide = { ...data, extraInputs: { scale: { shape: [3], values: new Float32Array(6) } } };
    expect(() => requireInputs(twoInputs(), wide)).toThrow(
      'input scale takes samples of shape [1], "scale" of two inputs have [3]',
    );
  });
});

describe('a batch of mixed samples', () => {
  it('has the share λ of its own loss and gradients, and the rest of those of the partners', async () => {
    const task = taskOf('regression');
    const loss: LossFunction = (outputs, targets, _, { weights, mask }) =>
      taskLoss(task, outputs, targets, hard, { weights, mask });
    const member = new Member(twoInputs('scale-of-mixed'), loss, (variables) =>
      createOptimizer(optimizerSchema.parse({ kind: 'sgd' }), variables),
    );
    const { scale } = data.extraInputs ?? {};
    const named = createDataset({ ...data, extraInputs: { 'scale-of-mixed': scale } });
    const batch = gatherBatch(named, Int32Array.of(0, 1));
    const partner = { targets: Float32Array.of(20, 10), weights: Float32Array.of(2, 1) };
    const position = { epoch: 0, step: 0, totalSteps: 1 };
    const own = await member.lossAndGradients(batch, position);
    const others = await member.lossAndGradients({ ...batch, ...partner }, position);
    const mixed = await member.lossAndGradients({ ...batch, mixed: { share: 0.75, partner } }, position);
    // Predictions are 53 and 77; losses (1 · 43² + 2 · 57²) / 2 and (2 · 33² + 1 · 67²) / 2.
    expect([own.loss, others.loss]).toEqual([4173.5, 3333.5]);
    expect(mixed.loss).toBeCloseTo(0.75 * 4173.5 + 0.25 * 3333.5, 2);
    const values = ({ gradients }: typeof own) => gradients.flatMap((gradient) => [...(gradient?.dataSync() ?? [])]);
    values(mixed).forEach((value, i) => {
      expect(value / (0.75 * values(own)[i] + 0.25 * values(others)[i])).toBeCloseTo(1, 5);
    });
  });
});
