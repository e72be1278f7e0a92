import { beforeAll, describe, expect, it } from 'vitest';
import type { TaskKind } from '../../../core/metrics/registry/metric.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { createDataset, type Dataset } from '../../../workers/data/dataset.ts';
import { predict, predictTogether } from '../../../workers/member/predict.ts';
import { hard } from '../../../workers/member/sample-losses.ts';
import { taskFor } from '../../../workers/member/tasks.ts';
import { taskLoss } from '../../../workers/member/weighted-loss.ts';
import { tf, type Tensor } from '../../../workers/tensorflow/tf.ts';
import { readGolden } from '../../golden/read-golden.ts';
import { createInMemoryGroup } from '../relay/in-memory-group.ts';

interface Case {
  task: TaskKind;
  shape: [members: number, samples: number, steps: number, width: number];
  outputs: number[][];
  targetShape: number[];
  targets: number[];
  mask: number[];
  members: { loss: number; gradients: number[][] }[];
  metrics: Record<string, number>;
}

/** Written by make_sequences.py. */
const { source, cases } = readGolden('tasks/sequences.json') as { source: string; cases: Case[] };
const withLabels = new Set<TaskKind>(['classification', 'binary']);
const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 5) as number);

function datasetOf({ task, shape: [, samples, , width], targets, targetShape, mask }: Case): Dataset {
  return createDataset({
    name: 'sequences',
    featureShape: [1],
    features: new Float32Array(samples),
    targets: withLabels.has(task) ? Int32Array.from(targets) : Float32Array.from(targets),
    targetShape,
    mask: Uint8Array.from(mask),
    ...(withLabels.has(task) && { classCount: Math.max(width, 2) }),
  });
}

beforeAll(async () => void (await startBackend('wasm')));

describe.each(cases)(`a target at each step of a sequence, $task, against ${source}`, (given) => {
  const [members, samples, steps, width] = given.shape;
  const dataset = datasetOf(given);
  const task = taskFor({ task: given.task }, dataset);
  const dtype = withLabels.has(given.task) ? 'int32' : 'float32';
  const typed = () => tf.tensor(given.targets, [samples, ...given.targetShape], dtype);
  const mask = () => tf.tensor(given.mask, [samples, ...given.targetShape], 'float32');

  it('has the mean loss of the steps that count, and its gradients', () => {
    given.members.forEach(({ loss, gradients }, member) => {
      const size = samples * steps * width;
      const own = given.outputs.map((output) =>
        tf.tensor(output.slice(member * size, (member + 1) * size), [samples, steps, width]),
      );
      const lossOf = (...outputs: (typeof own)[number][]) =>
        tf.sum(taskLoss(task, outputs, typed(), hard, { weights: null, mask: mask() }));
      const found = tf.valueAndGrads(lossOf)(own);
      expect(found.value.dataSync()[0]).toBeCloseTo(loss, 5);
      found.grads.forEach((gradient, i) => expect([...gradient.dataSync()]).toEqual(close(gradients[i])));
    });
  });

  it('has one loss for each stacked member', () => {
    const outputs = given.outputs.map((output) => tf.tensor(output, given.shape));
    const repeated = (tensor: Tensor) => tf.tile(tf.expandDims(tensor, 0), [members, ...tensor.shape.map(() => 1)]);
    const weighing = { weights: tf.ones([members, samples]), mask: repeated(mask()) };
    const losses = taskLoss(task, outputs, repeated(typed()), hard, weighing);
    expect(losses.shape).toEqual([members]);
    expect([...losses.dataSync()]).toEqual(close(given.members.map(({ loss }) => loss)));
  });

  it('without a mask has the loss of all steps', () => {
    const outputs = given.outputs.map((output) =>
      tf.tensor(output.slice(0, samples * steps * width), given.shape.slice(1)),
    );
    const ones = tf.ones([samples, ...given.targetShape]);
    const [plain, masked] = [null, ones].map((all) =>
      taskLoss(task, outputs, typed(), hard, { weights: null, mask: all }).dataSync(),
    );
    expect(plain[0]).toBeCloseTo(masked[0], 5);
  });

  it('has metrics of the steps that count', () => {
    const outputs = given.outputs.map((output) => tf.tensor(output, given.shape));
    const kept = task.predictionsOf?.(outputs) ?? outputs;
    const values = kept.map((output) => Float32Array.from(output.dataSync()));
    const ranks = Array.from({ length: members }, (_, rank) => rank);
    const stack = { kind: task.predicts, ranks, samples: samples * steps, width, values };
    const found = task.metrics(stack, dataset, { more: ['f1', 'r2'] });
    for (const [name, value] of Object.entries(given.metrics)) expect(found.get(name), name).toBeCloseTo(value, 5);
  });
});

describe('a model of sequences', () => {
  const steps = createDataset({
    name: 'three steps',
    featureShape: [3, 1],
    features: Float32Array.from({ length: 15 }, (_, i) => i),
    targets: new Int32Array(15),
    targetShape: [3],
    classCount: 2,
  });
  const build = (units: number) =>
    tf.sequential({ layers: [tf.layers.dense({ units, inputShape: [3, 1], kernelInitializer: 'ones' })] });
  const task = taskFor({ task: 'classification' }, steps);

  it('predicts at each step, on one rank or together', async () => {
    const alone = await predict(build(2), task, steps);
    expect(alone).toMatchObject({ kind: 'logits', samples: 15, width: 2 });
    expect([...alone.values[0]]).toEqual(Array.from({ length: 30 }, (_, i) => Math.floor(i / 2)));
    const { groups } = createInMemoryGroup([0, 1, 2]);
    const together = await Promise.all(groups.map((group) => predictTogether(group, build(2), task, steps)));
    for (const found of together) expect(found).toEqual(alone);
  });

  it('is refused where its outputs do not fit the steps', () => {
    expect(() => task.check(build(2), steps)).not.toThrow();
    expect(() => task.check(build(4), steps)).toThrow(
      "The model's output has shape [B, 3, 4], but the task needs one output of 2 logits (2 classes in three " +
        'steps) at each position of a sample, [B, 3, 2].',
    );
    const values = createDataset({
      ...steps,
      targets: new Float32Array(30),
      targetShape: [3, 2],
      classCount: undefined,
    });
    const regression = taskFor({ task: 'regression' }, values);
    expect(regression.targetSize(values)).toBe(2);
    expect(() => regression.check(build(2), values)).not.toThrow();
    const open = tf.sequential({ layers: [tf.layers.dense({ units: 2, inputShape: [null, 1] })] });
    expect(() => regression.check(open, values)).not.toThrow();
  });
});
