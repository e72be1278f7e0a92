import { describe, expect, it } from 'vitest';
import { createDataset } from '../../../workers/data/dataset.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { requireCounted, targetWeights } from '../../../workers/member/tasks/checks.ts';
import { ensembleTask } from '../../../workers/strategies/strategy.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';

const about = { name: 'weighed', featureShape: [1], features: Float32Array.of(0, 0) };
const targets = Float32Array.of(1, 2, 3, 4);
const weights = Float32Array.of(2, 3);
const mask = Uint8Array.of(1, 0, 1, 1);

describe('the weights of targets', () => {
  it('are the weights of their samples where the mask counts them', () => {
    expect(targetWeights(createDataset({ ...about, targets }))).toBeUndefined();
    expect(targetWeights(createDataset({ ...about, targets, weights }))).toEqual(Float64Array.of(2, 2, 3, 3));
    expect(targetWeights(createDataset({ ...about, targets, weights, mask }))).toEqual(Float64Array.of(2, 0, 3, 3));
  });

  it('weigh the metrics of an evaluation, also those of the product of experts', () => {
    const data = createDataset({
      ...about,
      targets: Int32Array.of(0, 1),
      classCount: 2,
      weights: Float32Array.of(1, 3),
    });
    const config = runConfigSchema.parse({ strategy: { kind: 'joint' } });
    const task = ensembleTask(taskOf('classification'), config);
    const stack = { kind: 'logits' as const, ranks: [0], samples: 2, width: 2, values: [Float32Array.of(1, 0, 1, 0)] };
    const found = task.metrics(stack, data);
    // The first sample is right, the second, of weight 3, is wrong.
    expect([found.get('ens_acc'), found.get('product_acc')]).toEqual([0.25, 0.25]);
  });

  it('must not all be 0', () => {
    const nothing = createDataset({ ...about, targets, mask: new Uint8Array(4) });
    expect(() => requireCounted(nothing)).toThrow('No target of weighed counts');
    expect(() => requireCounted(createDataset({ ...about, targets, mask }))).not.toThrow();
  });
});
