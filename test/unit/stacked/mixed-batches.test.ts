import { beforeAll, expect, it } from 'vitest';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import type { Batch } from '../../../workers/data/dataset.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { stackedTraining } from '../../../workers/stacked/common-stacks.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';

beforeAll(async () => void (await startBackend('cpu')));

it('stacked members each mix the losses of their own batch', async () => {
  const batchOf = (targets: number[], partners: number[], share: number): Batch => ({
    features: new Float32Array(2),
    featureShape: [2, 1],
    targets: Float32Array.from(targets),
    targetShape: [2],
    mixed: { share, partner: { targets: Float32Array.from(partners) } },
  });
  const position = { epoch: 0, step: 0, totalSteps: 1 };
  const members = [batchOf([1, 2], [3, 4], 0.75), batchOf([0, 4], [2, 0], 0.5)].map((batch) => ({
    batch,
    position,
    draw: <T>(body: () => T) => body(),
  }));
  const task = taskOf('regression');
  const config = runConfigSchema.parse({ augmentation: { mixup: 1 }, sampler: 'shared' });
  const training = stackedTraining({ config, project: {}, task }, (outputs, targets) => task.loss(outputs, targets));
  expect(training.sharesBatches).toBe(false);
  const targets = tf.tensor(
    members.flatMap(({ batch }) => [...batch.targets]),
    [2, 2],
  );
  const losses = training.losses([tf.zeros([2, 2, 1])], targets, members);
  // 0.75 · (1 + 4) / 2 + 0.25 · (9 + 16) / 2, and 0.5 · (0 + 16) / 2 + 0.5 · (4 + 0) / 2
  expect(await losses.data()).toEqual(Float32Array.of(5, 5));
});
