import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { Member } from '../../../workers/member/member.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import { WeightAverage } from '../../../workers/member/weight-average.ts';
import { tf, type Variable } from '../../../workers/tensorflow/tf.ts';
import { createInMemoryGroup } from '../relay/in-memory-group.ts';
import { RankTraining } from '../../../workers/training/rank-training.ts';
import { partsOf } from './loop/two-ranks.ts';
import { temporaryFolder } from './loop/fakes.ts';

describe.each(['cpu', 'wasm'] as const)('the average of weights, on %s', (backend) => {
  beforeAll(async () => void (await startBackend(backend)));

  const create = () => {
    const variable: Variable = tf.variable(tf.tensor1d([7, 7]));
    return { variable, average: new WeightAverage(0.75, ['dense_0/kernel'], [variable]) };
  };
  const valuesOf = (average: WeightAverage) => [...(average.tensors.get('dense_0/kernel')?.dataSync() ?? [])];

  it('starts with the first updated weights, then moves by 1 − d towards the new ones', () => {
    const { variable, average } = create();
    variable.assign(tf.tensor1d([0, 4]));
    average.update();
    expect(valuesOf(average)).toEqual([0, 4]);
    variable.assign(tf.tensor1d([8, 0]));
    average.update();
    expect(valuesOf(average)).toEqual([2, 3]);
    average.update();
    expect(valuesOf(average)).toEqual([3.5, 2.25]);
  });

  it('takes the place of the weights and gives them back, without a tensor more', () => {
    const { variable, average } = create();
    // Before the first update there is nothing to evaluate but the weights.
    average.exchange()();
    expect([...variable.dataSync()]).toEqual([7, 7]);
    variable.assign(tf.tensor1d([0, 4]));
    average.update();
    variable.assign(tf.tensor1d([8, 0]));
    average.update();
    const before = tf.memory().numTensors;
    const restore = average.exchange();
    expect([...variable.dataSync()]).toEqual([2, 3]);
    restore();
    expect([...variable.dataSync()]).toEqual([8, 0]);
    expect(tf.memory().numTensors).toBe(before);
  });
});

const start = { epoch: 0, batch: 0, step: 0, round: 0, rendezvous: 0, standingBy: false, stoppedAlone: false };

it('the evaluated average meets the constraints of the weights', async () => {
  await startBackend('cpu');
  const [group] = createInMemoryGroup([0]).groups;
  const parts = partsOf({ members: 1 }, await temporaryFolder(), group);
  const kernelConstraint = tf.constraints.unitNorm({ axis: 0 });
  const model = tf.sequential({
    layers: [tf.layers.dense({ units: 1, useBias: false, inputShape: [2], kernelConstraint })],
  });
  const noLoss = () => tf.scalar(0);
  const optimizerOf = () =>
    createOptimizer({ kind: 'sgd', learningRate: 1, momentum: 0, nesterov: false, weightDecay: 0 }, []);
  const updates = { clipNorm: 0, clipValue: 0, groups: [], averageDecay: 0.5 };
  const member = new Member(model, noLoss, optimizerOf, updates);
  const [kernel] = member.variables;
  for (const values of [
    [1, 0],
    [0, 1],
  ]) {
    kernel.assign(tf.tensor2d(values, [2, 1]));
    member.average?.update();
  }
  await new RankTraining({ ...parts, member }, start).withModel(async () => {
    // The average (1/2, 1/2) has the norm 1/√2.
    expect([...kernel.dataSync()]).toEqual([expect.closeTo(Math.SQRT1_2, 5), expect.closeTo(Math.SQRT1_2, 5)]);
  });
  expect([...kernel.dataSync()]).toEqual([0, 1]);
});

it('a failed evaluation leaves the trained weights in the model, for the state that is saved then', async () => {
  await startBackend('cpu');
  const [group] = createInMemoryGroup([0]).groups;
  const parts = partsOf({ members: 1, ema: { decay: 0.5 } }, await temporaryFolder(), group);
  const { member } = parts;
  const [variable] = member.variables;
  member.average?.update();
  variable.assign(tf.add(variable, 2));
  member.average?.update();
  const trained = [...variable.dataSync()];
  const failed = new RankTraining(parts, start).withModel(async () => {
    expect([...variable.dataSync()]).toEqual(trained.map((value) => expect.closeTo(value - 1, 5)));
    throw new Error('The hub is gone.');
  });
  await expect(failed).rejects.toThrow('The hub is gone.');
  expect([...variable.dataSync()]).toEqual(trained);
});
