import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunConfigInput, runConfigSchema } from '../../../core/protocol/run/config.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import type { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import { createDataset, gatherBatch } from '../../../workers/data/dataset.ts';
import { couple, Coupled, type CoupledConfig } from '../../../workers/strategies/coupled.ts';
import { tf, type Scalar, type Tensor } from '../../../workers/tensorflow/tf.ts';
import { Member } from '../../../workers/member/member.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import { crossEntropyLoss, taskOf } from '../../../workers/member/tasks.ts';
import { createInMemoryGroup, ranksOf } from '../relay/in-memory-group.ts';

beforeAll(async () => void (await startBackend('cpu')));

const classes = 3;
const steps = 5;
const learningRate = 0.3;

const samples = (name: string, count: number, phase: number) =>
  createDataset({
    name,
    featureShape: [2],
    features: Float32Array.from({ length: 2 * count }, (_, i) => Math.sin(phase + 2.3 * i)),
    targets: Int32Array.from({ length: count }, (_, i) => i % classes),
    classCount: classes,
  });
const labelled = samples('labelled', 4, 0);
/** One batch holds all samples, so that their order does not affect a mean. */
const unlabelled = samples('unlabelled', 6, 5);
const batch = gatherBatch(labelled, Int32Array.of(0, 1, 2, 3));

function createMember(seed: number): Member {
  const model = tf.sequential({ layers: [tf.layers.dense({ units: classes, inputShape: [2] })] });
  tf.tidy(() =>
    model.setWeights([
      tf.tensor(
        Float32Array.from({ length: 6 }, (_, i) => Math.cos(i + 3 * seed)),
        [2, classes],
      ),
      tf.zeros([classes]),
    ]),
  );
  const optimizer = { kind: 'sgd', learningRate, momentum: 0, nesterov: false, weightDecay: 0 } as const;
  return new Member(
    model,
    ([logits], targets) => crossEntropyLoss(logits, targets),
    (variables) => createOptimizer(optimizer, variables),
  );
}

const weightsOf = ({ model }: Member): number[] => model.getWeights().flatMap((weight) => [...weight.dataSync()]);
const predict = ({ model }: Member, features: Float32Array): Tensor =>
  tf.softmax(model.apply(tf.tensor(features, [features.length / 2, 2])) as Tensor);

function createStrategy(options: Partial<CoupledConfig>, members: number): Coupled {
  const strategy: RunConfigInput['strategy'] = { kind: 'coupled', unlabelledBatchSize: 6, ...options };
  const config = runConfigSchema.parse({ members, strategy });
  return new Coupled(config.strategy as CoupledConfig, {
    config,
    task: taskOf('classification'),
    totalSteps: steps,
    unlabelled,
  });
}

async function train(group: ProcessGroup, options: Partial<CoupledConfig>, member = createMember(group.rank)) {
  const strategy = createStrategy(options, group.worldSize);
  await strategy.setup(member, group, null);
  const points: Map<string, number>[] = [];
  for (let step = 0; step < steps; step++) {
    await strategy.trainStep(member, batch, { learningRate }, { epoch: 0, step, totalSteps: steps });
    points.push(strategy.points());
  }
  return { weights: weightsOf(member), points };
}

/** tfjs's gradients of the whole loss: members one after the other, with the ensemble's mean held fixed. */
function reference(members: number, couplingWeight: number): number[][] {
  const all = ranksOf(members).map(createMember);
  for (let step = 0; step < steps; step++) {
    const mean = tf.mean(tf.stack(all.map((member) => predict(member, unlabelled.features as Float32Array))), 0);
    for (const member of all) {
      const loss = (): Scalar => {
        const p = predict(member, unlabelled.features as Float32Array);
        const divergence = tf.mean<Scalar>(tf.sum(tf.mul(p, tf.sub(tf.log(p), tf.log(mean))), -1));
        const logits = member.model.apply(tf.tensor(batch.features, [4, 2])) as Tensor;
        const supervised = crossEntropyLoss(logits, tf.tensor1d(batch.targets as Int32Array, 'int32'));
        return tf.add(supervised, tf.mul(divergence, couplingWeight));
      };
      const { grads } = tf.variableGrads(loss, member.variables);
      member.applyGradients(
        member.variables.map(({ name }) => grads[name]),
        { learningRate },
      );
    }
  }
  return all.map(weightsOf);
}

describe('the coupling of a member to its ensemble', () => {
  it('is KL(p || q), its gradient p (log(p/q) − KL) over the batch', () => {
    // p = (3/4, 1/4), q = (1/2, 1/2): KL = 3/4 log(3/2) + 1/4 log(1/2).
    const divergence = 0.75 * Math.log(1.5) + 0.25 * Math.log(0.5);
    const { loss, gradient } = couple(Float32Array.of(0.75, 0.25), Float32Array.of(1, 1), 2, 1);
    expect(loss).toBeCloseTo(divergence, 12);
    expect(gradient[0]).toBeCloseTo(0.75 * (Math.log(1.5) - divergence), 7);
    expect(gradient[1]).toBeCloseTo(0.25 * (Math.log(0.5) - divergence), 7);
  });

  it('leaves out classes to which the member assigns no probability', () => {
    const { loss, gradient } = couple(Float32Array.of(1, 0), Float32Array.of(1.5, 0.5), 2, 1);
    expect(loss).toBeCloseTo(Math.log(1 / 0.75), 12);
    expect(gradient[1]).toBeCloseTo(0, 12);
    expect(couple(Float32Array.of(1, 0), Float32Array.of(1, 0), 1, 1)).toMatchObject({ loss: 0 });
  });
});

describe('coupled members', () => {
  it('are trained by cross-entropy plus λ times KL to the mean, through which no gradient flows', async () => {
    const { groups } = createInMemoryGroup(ranksOf(3));
    const trained = await Promise.all(groups.map((group) => train(group, { couplingWeight: 2 })));
    const expected = reference(3, 2);
    trained.forEach(({ weights }, rank) =>
      weights.forEach((weight, i) => expect(weight).toBeCloseTo(expected[rank][i], 5)),
    );
    const bytes = 2 * 6 * classes * Float32Array.BYTES_PER_ELEMENT;
    for (const [rank, { points }] of trained.entries()) {
      expect(points[0].get(`train/member_${rank}_coupling_loss`)).toBeGreaterThan(0.01);
      expect(points[0].get(`train/member_${rank}_bytes_per_step`)).toBe(bytes);
    }
  });

  it('have a coupling loss of zero and learn only from labels when there is one member', async () => {
    const { groups } = createInMemoryGroup([0]);
    const alone = await train(groups[0], { couplingWeight: 5 });
    const losses = alone.points.map((points) => points.get('train/member_0_coupling_loss'));
    expect(losses.length).toBeGreaterThan(0);
    expect(new Set(losses)).toEqual(new Set([0]));
    const { groups: others } = createInMemoryGroup([0]);
    expect(alone.weights).toEqual((await train(others[0], { couplingWeight: 0 })).weights);
  });

  it('exchange nothing when λ is 0', async () => {
    const { groups } = createInMemoryGroup(ranksOf(2));
    await Promise.all(groups.map((group) => train(group, { couplingWeight: 0 })));
    expect(groups.map(({ statistics }) => statistics.count)).toEqual([0, 0]);
  });

  it('count the bytes of a step without an update, but not its losses', async () => {
    const strategy = createStrategy({}, 1);
    const member = createMember(0);
    await strategy.setup(member, createInMemoryGroup([0]).groups[0], null);
    const broken = { ...batch, features: batch.features.map(() => NaN) };
    const position = { epoch: 0, step: 0, totalSteps: steps };
    const outcomes = [];
    for (const each of [broken, batch]) {
      outcomes.push(await strategy.trainStep(member, each, { learningRate }, position));
    }
    expect(outcomes[0]).toEqual({ loss: NaN, updated: false });
    const points = strategy.points();
    expect(points.get('train/member_0_bytes_per_step')).toBe(2 * 6 * classes * Float32Array.BYTES_PER_ELEMENT);
    expect(points.get('train/member_0_supervised_loss')).toBeCloseTo(outcomes[1]?.loss ?? NaN, 12);
  });

  it('leak no tensor', async () => {
    const before = tf.memory().numTensors;
    createMember(0);
    const created = tf.memory().numTensors;
    await train(createInMemoryGroup([0]).groups[0], {});
    expect(tf.memory().numTensors - created).toBe(created - before);
  });

  it('see the same unlabelled samples, and each once before any repeats', async () => {
    const { groups } = createInMemoryGroup(ranksOf(2));
    const seen = await Promise.all(
      groups.map(async (group) => {
        const member = createMember(group.rank);
        const forward = vi.spyOn(member, 'forward');
        await train(group, { couplingWeight: 1, unlabelledBatchSize: 3 }, member);
        return forward.mock.calls.map(([{ features }]) => [...features]);
      }),
    );
    expect(seen[0]).toEqual(seen[1]);
    // Six samples of two features in batches of three: two steps cover them all.
    const all = [...(unlabelled.features as Float32Array)].toSorted((a, b) => a - b);
    for (const step of [0, 2]) {
      expect([...seen[0][step], ...seen[0][step + 1]].toSorted((a, b) => a - b)).toEqual(all);
    }
  });

  it('need unlabelled samples', () => {
    const config = runConfigSchema.parse({ strategy: { kind: 'coupled' } });
    const context = { config, task: taskOf('classification'), totalSteps: 1 };
    expect(() => new Coupled(config.strategy as CoupledConfig, context)).toThrow(
      'The strategy coupled needs unlabelled samples, and this project has none: return a split `unlabelled` as well.',
    );
  });
});
