import { beforeAll, describe, expect, it } from 'vitest';
import type { TaskKind } from '../../../core/metrics/registry/metric.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { findConflicts } from '../../../src-main/runs/configuration/combinations.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { createDataset } from '../../../workers/data/dataset.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';
import { readGolden } from '../../golden/read-golden.ts';

interface Case {
  /** K, where targets are labels. */
  classes?: number;
  shape: [members: number, samples: number, width: number];
  outputs: number[][];
  targets: number[];
  members: { loss: number; gradients: number[][] }[];
  metrics: Record<string, number>;
}

/** Written by make_tasks.py. */
const golden = readGolden('tasks/tasks.json') as Record<string, Case>;
const kinds: TaskKind[] = Object.keys(golden).filter((kind): kind is TaskKind => kind !== 'versions');

const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 5) as number);
const datasetOf = ({ shape: [, samples], targets, classes }: Pick<Case, 'shape' | 'targets' | 'classes'>) =>
  createDataset({
    name: 'drawn',
    featureShape: [1],
    features: new Float32Array(samples),
    ...(classes === undefined
      ? { targets: Float32Array.from(targets) }
      : { targets: Int32Array.from(targets), classCount: classes }),
  });

beforeAll(() => startBackend('wasm'));

describe.each(kinds)('the task %s, against PyTorch and scikit-learn', (kind) => {
  const task = taskOf(kind);
  const given = golden[kind];
  const [members, samples, width] = given.shape;
  const hasLabels = given.classes !== undefined;
  const targetShape = given.targets.length === samples ? [samples] : [samples, width];
  const targets = () => tf.tensor(given.targets, targetShape, hasLabels ? 'int32' : 'float32');

  it('has the loss and its gradients', () => {
    given.members.forEach(({ loss, gradients }, member) => {
      const size = samples * width;
      const own = given.outputs.map((output) =>
        tf.tensor(output.slice(member * size, (member + 1) * size), [samples, width]),
      );
      const found = tf.valueAndGrads((...outputs) => tf.sum(task.loss(outputs, targets())))(own);
      expect(found.value.dataSync()[0]).toBeCloseTo(loss, 4);
      found.grads.forEach((gradient, i) => expect([...gradient.dataSync()]).toEqual(close(gradients[i])));
    });
  });

  it('has one loss for each of several stacked members', () => {
    const outputs = given.outputs.map((output) => tf.tensor(output, given.shape));
    const repeated = tf.tile(tf.expandDims(targets(), 0), [members, ...targetShape.map(() => 1)]);
    const losses = task.loss(outputs, repeated);
    expect(losses.shape).toEqual([members]);
    given.members.forEach(({ loss }, member) => expect(losses.dataSync()[member]).toBeCloseTo(loss, 4));
  });

  it('has the metrics', () => {
    const outputs = given.outputs.map((output) => tf.tensor(output, [members * samples, width]));
    const kept = task.predictionsOf?.(outputs) ?? outputs;
    const values = kept.map((output) => Float32Array.from(output.dataSync()));
    const ranks = Array.from({ length: members }, (_, rank) => rank);
    const more = ['auroc', 'ap', 'r2', 'mae'];
    const stack = { kind: task.predicts, ranks, samples, width: kept[0].shape[1] ?? 1, values };
    const found = task.metrics(stack, datasetOf(given), { more });
    for (const [name, value] of Object.entries(given.metrics)) expect(found.get(name), name).toBeCloseTo(value, 5);
  });

  it('is refused by name with strategies that have no definition for it', () => {
    const trained: readonly string[] = ['joint multi-label', 'joint poisson-regression', 'coupled multi-label'];
    for (const strategy of ['joint', 'coupled'] as const) {
      const config = runConfigSchema.parse({ strategy: { kind: strategy } });
      const refusal = {
        path: 'strategy.kind',
        message: expect.stringContaining(`this project's task is ${kind}: the `),
      };
      const expected = trained.includes(`${strategy} ${kind}`) ? [] : [refusal];
      expect(findConflicts(config, [], { task: kind, hasOwnLoss: false })).toMatchObject(expected);
    }
  });
});

describe('the binary task', () => {
  it('has the gradient σ(z) − y also where the logit is 0, as of an output layer of zeros', () => {
    const [logits, labels] = [tf.tensor2d([[0], [0], [2]]), tf.tensor1d([0, 1, 1], 'int32')];
    const gradient = tf.grad((z) => tf.sum(taskOf('binary').loss([z], labels)))(logits);
    const sigmoid = 1 / (1 + Math.exp(-2));
    expect([...gradient.dataSync()]).toEqual(close([0.5 / 3, -0.5 / 3, (sigmoid - 1) / 3]));
  });
});

describe('targets that a task cannot learn', () => {
  const model = (units: number) => tf.sequential({ layers: [tf.layers.dense({ units, inputShape: [1] })] });

  it.each([
    [
      'multi-label',
      [0, 1, 0.5, 1],
      2,
      'Target 0 of sample 1 of drawn is 0.5: the task multi-label needs 1 for each label',
    ],
    ['poisson-regression', [0, 2.5], 1, 'Target 1 of drawn is 2.5: the task poisson-regression needs counts'],
  ] as const)('%s', (kind, targets, units, message) => {
    const data = datasetOf({ shape: [1, 2, units], targets: [...targets] });
    expect(() => taskOf(kind).check(model(units), data)).toThrow(message);
  });
});
