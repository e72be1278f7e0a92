import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { createDataset } from '../../../workers/data/dataset.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';
import { gatherPredictions, predict } from '../../../workers/member/predict.ts';
import { joinStacks } from '../../../workers/member/predictions.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { createInMemoryGroup } from '../relay/in-memory-group.ts';

beforeAll(async () => void (await startBackend('cpu')));

describe('predict', () => {
  it('predicts a split larger than one batch in sample order without leaking tensors', async () => {
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, useBias: false, inputShape: [1] })] });
    tf.tidy(() => model.setWeights([tf.tensor([[2]])]));
    const x = Float32Array.from({ length: 1100 }, (_, i) => i);
    const dataset = createDataset({ name: 'line', featureShape: [1], features: x, targets: x });
    const { numTensors } = tf.memory();
    const predictions = await predict(model, taskOf('regression'), dataset);
    expect(predictions).toMatchObject({ samples: 1100, width: 1 });
    expect(predictions.values[0]).toEqual(x.map((value) => 2 * value));
    expect(tf.memory().numTensors).toBe(numTensors);
  });
});

describe('stacks of predictions', () => {
  const own = (value: number) => ({
    kind: 'values' as const,
    samples: 2,
    width: 1,
    values: [Float32Array.of(value, value + 1)],
  });

  it('hold every rank of the group in order, on every rank', async () => {
    const { groups } = createInMemoryGroup([4, 9]);
    const [first, second] = await Promise.all(groups.map((group, i) => gatherPredictions(group, own(10 * i))));
    expect(first).toEqual({
      kind: 'values',
      ranks: [4, 9],
      samples: 2,
      width: 1,
      values: [Float32Array.of(0, 1, 10, 11)],
    });
    expect(second).toEqual(first);
  });

  it('are joined by rank, whichever wave a member belonged to', () => {
    const stack = joinStacks([
      { ...own(5), ranks: [2] },
      { ...own(0), values: [Float32Array.of(1, 2, 7, 8)], ranks: [0, 3] },
    ]);
    expect(stack).toEqual({
      kind: 'values',
      ranks: [0, 2, 3],
      samples: 2,
      width: 1,
      values: [Float32Array.of(1, 2, 5, 6, 7, 8)],
    });
  });
});
