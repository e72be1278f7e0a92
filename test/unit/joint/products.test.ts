import { describe, expect, it } from 'vitest';
import type { TaskKind } from '../../../core/metrics/registry/metric.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { createDataset } from '../../../workers/data/dataset.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { ensembleTask } from '../../../workers/strategies/strategy.ts';
import { coupleStates } from '../../../workers/strategies/coupled.ts';
import { sumInOrder } from '../../../workers/strategies/joint-product.ts';
import { productOfTask } from '../../../workers/strategies/joint-task-products.ts';
import { readGolden } from '../../golden/read-golden.ts';

interface Golden {
  cases: {
    task: TaskKind;
    labelSmoothing: number;
    temperature: number;
    /** `[M, B · W]` */
    outputs: number[][];
    targets: number[];
    loss: number;
    gradients: number[][];
    productNll?: number;
  }[];
  coupled: { logits: number[][]; losses: number[]; gradients: number[][] };
}

const { cases, coupled } = readGolden('joint/products.json') as Golden;
const targetsOf = (task: TaskKind, targets: number[]) =>
  task === 'classification' || task === 'binary' ? Int32Array.from(targets) : Float32Array.from(targets);

describe('the product of experts', () => {
  it.each(cases)(
    'has the loss and the gradients of the normalised geometric mean in PyTorch: $task, smoothing $labelSmoothing',
    ({ task, outputs, targets, loss, gradients, ...softening }) => {
      const sum = sumInOrder(outputs.map((own) => Float32Array.from(own)));
      const product = productOfTask(task, softening)(sum, { targets: targetsOf(task, targets) }, outputs.length);
      expect(product.loss).toBeCloseTo(loss, 6);
      for (const own of gradients) product.gradient.forEach((value, i) => expect(value).toBeCloseTo(own[i], 6));
    },
  );

  it.each(cases.filter(({ productNll }) => productNll !== undefined))(
    'is scored as a distribution: $task, smoothing $labelSmoothing',
    ({ task: kind, outputs, targets, productNll }) => {
      const task = ensembleTask(taskOf(kind), runConfigSchema.parse({ strategy: { kind: 'joint' } }));
      const [samples, width] = [targets.length / 2, 2];
      const predicted = Float32Array.from(outputs.flat(), kind === 'multi-label' ? Number : Math.exp);
      const dataset = createDataset({
        name: 'drawn',
        featureShape: [1],
        features: new Float32Array(samples),
        targets: Float32Array.from(targets),
        targetShape: [width],
      });
      const metrics = task.metrics(
        { kind: task.predicts, ranks: [0, 1, 2], samples, width, values: [predicted] },
        dataset,
      );
      expect(metrics.get('product_nll')).toBeCloseTo(productNll ?? NaN, 5);
      expect(task.ensembleMonitor).toBe('val/product_nll');
    },
  );

  it('of mixed samples has the cross-entropy of labels λ·own + (1 − λ)·partner', () => {
    // Two samples with equal logits of three classes: log q = −log 3, and (q − p) / (M·B) with M = 2, B = 2.
    const sum = new Float32Array(6);
    const batch = { targets: Int32Array.of(0, 2), mixed: { share: 0.75, partner: { targets: Int32Array.of(1, 2) } } };
    const { loss, gradient } = productOfTask('classification')(sum, batch, 2);
    expect(loss).toBeCloseTo(Math.log(3), 6);
    const expected = [1 / 3 - 0.75, 1 / 3 - 0.25, 1 / 3, 1 / 3, 1 / 3, 1 / 3 - 1].map((value) => value / 4);
    gradient.forEach((value, i) => expect(value).toBeCloseTo(expected[i], 6));
  });

  it('of ordered classes is refused: it is not that of the mean of their conditional logits', () => {
    expect(() => productOfTask('ordinal')).toThrow('cannot train the task ordinal');
  });
});

it('members coupled by labels have the divergences and gradients of PyTorch', () => {
  const sigmoid = (z: number): number => 1 / (1 + Math.exp(-z));
  const pairs = coupled.logits.map((own) => Float32Array.from(own.flatMap((z) => [sigmoid(-z), sigmoid(z)])));
  const sum = sumInOrder(pairs);
  pairs.forEach((own, member) => {
    const { loss, gradient } = coupleStates(own, sum, pairs.length);
    expect(loss).toBeCloseTo(coupled.losses[member], 6);
    gradient.forEach((value, i) => expect(value).toBeCloseTo(coupled.gradients[member][i], 6));
  });
});
