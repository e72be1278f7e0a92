import { beforeAll, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { updateInPlace } from '../../../../workers/strategies/data-parallel/data-parallel.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { type LossFunction, Member } from '../../../../workers/member/member.ts';
import { createOptimizer } from '../../../../workers/optimizers/optimizers.ts';
import { crossEntropyLoss } from '../../../../workers/member/tasks.ts';
import { createInMemoryGroup } from '../../relay/in-memory-group.ts';

beforeAll(async () => void (await startBackend('wasm')));

const sgd = { kind: 'sgd', learningRate: 1, momentum: 0, nesterov: false, weightDecay: 0 } as const;

/** Three weights of two values each, all 0. */
function createMember(): Member {
  const layers = Array.from({ length: 3 }, (_, i) =>
    tf.layers.dense({
      units: i === 1 ? 1 : 2,
      useBias: false,
      kernelInitializer: 'zeros',
      ...(i === 0 ? { inputShape: [1] } : {}),
    }),
  );
  const loss: LossFunction = ([logits], labels) => crossEntropyLoss(logits, labels);
  return new Member(tf.sequential({ layers }), loss, (variables) => createOptimizer(sgd, variables));
}

it('gradients that share memory or do not reach the loss are exchanged like any others', async () => {
  const { groups } = createInMemoryGroup([0, 1]);
  const members = groups.map(createMember);
  const losses = [2, 4];
  const outcomes = await Promise.all(
    groups.map((group, rank) => {
      const gradient = tf.tensor2d([1 + rank, 10 + rank], [1, 2]);
      const sameValues = gradient.reshape([2, 1]);
      const gradients = [gradient, sameValues, null];
      return updateInPlace(group, members[rank], { loss: losses[rank], gradients }, { learningRate: 1 });
    }),
  );
  expect(outcomes).toEqual([0, 1].map(() => ({ loss: 3, updated: true })));
  for (const { variables } of members) {
    expect(variables.map((variable) => [...variable.dataSync()])).toEqual([
      [-1.5, -10.5],
      [-1.5, -10.5],
      [0, 0],
    ]);
  }
});
