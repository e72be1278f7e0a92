import { beforeAll, describe, expect, it } from 'vitest';
import type { TaskKind } from '../../../core/metrics/registry/metric.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { tf, type Tensor } from '../../../workers/tensorflow/tf.ts';
import { readGolden } from '../../golden/read-golden.ts';

interface Golden {
  labelSmoothing: number;
  temperature: number;
  cases: { task: TaskKind; logits: number[][]; targets: number[] | number[][]; loss: number; gradient: number[][] }[];
}

const { cases, ...softening } = readGolden('tasks/softened.json') as Golden;

/** Labels of the tasks with one label per sample are integers. */
const statesOf = (kind: TaskKind, targets: number[] | number[][]): Tensor =>
  kind === 'multi-label' ? tf.tensor(targets) : tf.tensor1d(targets.flat(), 'int32');

describe.each(['cpu', 'wasm'] as const)('losses with smoothed labels and a temperature, on %s', (backend) => {
  beforeAll(async () => void (await startBackend(backend)));

  it.each(cases)(
    'have the values and gradients of PyTorch: $task',
    ({ task: kind, logits, targets, loss, gradient }) => {
      const task = taskOf(kind);
      const states = statesOf(kind, targets);
      const softened = (z: Tensor) => task.loss([z], states, softening).asScalar();
      const { value, grad } = tf.valueAndGrad(softened)(tf.tensor2d(logits));
      expect(value.dataSync()[0]).toBeCloseTo(loss, 6);
      [...grad.dataSync()].forEach((slope, i) => expect(slope).toBeCloseTo(gradient.flat()[i], 6));
    },
  );

  it.each(cases)('are those that weights and masks multiply: $task', ({ task: kind, logits, targets, loss }) => {
    const states = statesOf(kind, targets);
    const losses = taskOf(kind).losses?.([tf.tensor2d(logits)], states, softening);
    expect(losses?.mean().dataSync()[0]).toBeCloseTo(loss, 6);
  });
});
