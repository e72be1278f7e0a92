import { beforeAll, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { DistributedSeeder } from '../../../workers/callbacks/distributed-seeder.ts';
import { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import { gatherBatch } from '../../../workers/data/dataset.ts';
import { Member } from '../../../workers/member/member.ts';
import { hard } from '../../../workers/member/sample-losses.ts';
import { readWeights, readTensors, writeTensors, writeWeights } from '../../../workers/member/weights.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import { Joint } from '../../../workers/strategies/joint.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';
import { dataset, savedState } from '../strategies/ranks.ts';

beforeAll(async () => void (await startBackend('wasm')));

const adam = { kind: 'adam', learningRate: 0.02, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0 } as const;

/** A member whose forward pass draws random numbers and changes running statistics. */
function createRank() {
  const seeder = new DistributedSeeder({ baseSeed: 5, rank: 0 });
  const model = tf.sequential({
    layers: [
      tf.layers.dense({ units: 8, activation: 'relu', inputShape: [4] }),
      tf.layers.batchNormalization(),
      tf.layers.dropout({ rate: 0.5 }),
      tf.layers.dense({ units: 3 }),
    ],
  });
  const member = new Member(
    model,
    () => tf.scalar(0),
    (variables) => createOptimizer(adam, variables),
  );
  const context = { task: { kind: 'classification' }, config: { loss: hard } } as const;
  return { seeder, member, strategy: new Joint({ kind: 'joint', mode: 'pipelined' }, context) };
}

const batchOf = (step: number) =>
  gatherBatch(
    dataset,
    Int32Array.from({ length: 5 }, (_, i) => (5 * step + i) % dataset.length),
  );

async function train({ member, strategy }: ReturnType<typeof createRank>, from: number, to: number): Promise<unknown> {
  const losses: unknown[] = [];
  for (let step = from; step < to; step++) {
    losses.push(await strategy.trainStep(member, batchOf(step), { learningRate: 0.02 / (1 + step) }));
  }
  losses.push(await strategy.settle());
  const weights = await readWeights(member.model);
  return { losses, weights };
}

it('is repeated by a resume, with its dropout and its statistics, so that the next steps have the same bits', async () => {
  const group = ProcessGroup.alone(0);
  const whole = createRank();
  await whole.strategy.setup(whole.member, group, null);
  for (let step = 0; step < 7; step++) {
    await whole.strategy.trainStep(whole.member, batchOf(step), { learningRate: 0.02 / (1 + step) });
  }
  const saved = structuredClone({
    strategy: await savedState(whole.strategy),
    weights: await readWeights(whole.member.model),
    slots: await readTensors(whole.member.optimizer.slots),
    steps: whole.member.optimizer.steps,
    generator: whole.seeder.state(),
  });
  const expected = await train(whole, 7, 12);

  const resumed = createRank();
  const { member, strategy, seeder } = resumed;
  writeWeights(member.model, saved.weights, 'the test');
  writeTensors(member.optimizer.slots, saved.slots, 'the test');
  member.optimizer.steps = saved.steps;
  seeder.restore(saved.generator);
  await strategy.setup(member, group, saved.strategy);
  await strategy.repeatBegun(member, async () => batchOf(6));
  expect(await train(resumed, 7, 12)).toEqual(expected);
});
