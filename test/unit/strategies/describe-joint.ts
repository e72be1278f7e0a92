import { beforeAll, describe, expect, it } from 'vitest';
import type { StrategyConfig } from '../../../core/protocol/run/config.ts';
import { type BackendKind, startBackend } from '../../../workers/backends/backend.ts';
import type { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import type { Batch } from '../../../workers/data/dataset.ts';
import { Joint } from '../../../workers/strategies/joint.ts';
import type { Strategy } from '../../../workers/strategies/strategy.ts';
import { productLoss, sumInOrder } from '../../../workers/strategies/joint-product.ts';
import { tf, type LayersModel, type Tensor } from '../../../workers/tensorflow/tf.ts';
import { Member } from '../../../workers/member/member.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import { hard } from '../../../workers/member/sample-losses.ts';
import { crossEntropyLoss } from '../../../workers/member/tasks.ts';
import { createInMemoryGroup, ranksOf } from '../relay/in-memory-group.ts';

type Mode = Extract<StrategyConfig, { kind: 'joint' }>['mode'];

const learningRate = 0.5;
const steps = 6;
const members = 3;
const classes = 3;
const context = { task: { kind: 'classification' }, config: { loss: hard } } as const;
const position = { epoch: 0, step: 0, totalSteps: steps };

/** Sample i of batch b: two features, and a label that depends on them. */
const batches: Batch[] = Array.from({ length: steps }, (_, b) => ({
  features: Float32Array.from({ length: 8 }, (_, i) => Math.sin(7 * b + 3 * i)),
  featureShape: [4, 2],
  targets: Int32Array.from({ length: 4 }, (_, i) => (b + i) % classes),
  targetShape: [4],
}));

/** A net of two layers whose weights depend only on the member. */
function createModel(member: number): LayersModel {
  const model = tf.sequential({
    layers: [tf.layers.dense({ units: 5, activation: 'tanh', inputShape: [2] }), tf.layers.dense({ units: classes })],
  });
  const weightsOf = ({ shape, size }: Tensor, layer: number) =>
    tf.tensor(
      Float32Array.from({ length: size }, (_, i) => Math.cos(i + 10 * layer + 100 * member)),
      shape,
    );
  tf.tidy(() => model.setWeights(model.getWeights().map(weightsOf)));
  return model;
}

const createMember = (member: number): Member =>
  new Member(createModel(member), ([logits], targets) => crossEntropyLoss(logits, targets), sgd);
const sgd = (variables: Parameters<typeof createOptimizer>[1]) =>
  createOptimizer({ kind: 'sgd', learningRate, momentum: 0.9, nesterov: false, weightDecay: 0 }, variables);

const weightsOf = ({ model }: Member): number[] => model.getWeights().flatMap((weight) => [...weight.dataSync()]);
const logitsOf = ({ model }: Member, { features, featureShape }: Batch): Tensor =>
  model.apply(tf.tensor(features, featureShape), { training: true }) as Tensor;

/**
 * The result of tfjs's gradients on one graph with all members. `lag` is the number of updates by which a gradient is
 * late.
 */
function trainOneGraph(lag: 0 | 1): { losses: number[]; weights: number[][] } {
  const all = Array.from({ length: members }, (_, member) => createMember(member));
  const variables = all.flatMap((member) => member.variables);
  const losses: number[] = [];
  const late: Tensor[][] = [];
  const apply = (gradients: Tensor[]): void => {
    const width = all[0].variables.length;
    all.forEach((member, i) => member.applyGradients(gradients.slice(i * width, (i + 1) * width), { learningRate }));
  };
  for (const batch of batches) {
    const { value, grads } = tf.variableGrads(() => {
      const mean = tf.mean(tf.stack(all.map((member) => logitsOf(member, batch))), 0);
      return crossEntropyLoss(mean, tf.tensor1d(batch.targets as Int32Array, 'int32'));
    }, variables);
    losses.push(value.dataSync()[0]);
    late.push(variables.map(({ name }) => grads[name]));
    if (late.length > lag) apply(late.splice(0, 1)[0]);
  }
  late.forEach(apply);
  return { losses, weights: all.map(weightsOf) };
}

/** Every rank trains its own member. They take turns at each exchange. */
async function trainRanks(mode: Mode): Promise<{ losses: number[][]; weights: number[][]; traffic: number[] }> {
  const { groups } = createInMemoryGroup(ranksOf(members));
  const trained = await Promise.all(groups.map((group) => trainRank(group, mode)));
  return {
    losses: trained.map(({ losses }) => losses),
    weights: trained.map(({ weights }) => weights),
    traffic: trained.map(({ bytesPerStep }) => bytesPerStep),
  };
}

async function trainRank(group: ProcessGroup, mode: Mode) {
  const member = createMember(group.rank);
  const strategy: Strategy = new Joint({ kind: 'joint', mode }, context);
  await strategy.setup(member, group, null);
  const losses: number[] = [];
  for (const batch of batches) {
    const outcome = await strategy.trainStep(member, batch, { learningRate }, position);
    if (outcome !== null) losses.push(outcome.loss);
  }
  const settled = await strategy.settle?.();
  if (settled) losses.push(settled.loss);
  const bytesPerStep = strategy.points?.().get(`train/member_${group.rank}_bytes_per_step`) ?? NaN;
  return { losses, weights: weightsOf(member), bytesPerStep };
}

function expectClose(actual: readonly number[], expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  actual.forEach((value, i) => expect(value).toBeCloseTo(expected[i], 5));
}

/** A process has one backend, so each backend has its own test file. */
export function describeJoint(backend: BackendKind): void {
  beforeAll(async () => void (await startBackend(backend)));

  describe('the loss of a product of experts', () => {
    it('is that of the softmax of the mean logits, with gradient (q − p) / (M·B)', () => {
      // Two members, mean logits (log 3, 0): q = (3/4, 1/4), label 1.
      const { loss, gradient } = productLoss(Float32Array.of(2 * Math.log(3), 0), [1], 2);
      expect(loss).toBeCloseTo(Math.log(4), 6);
      expect([...gradient]).toEqual([expect.closeTo(3 / 8, 6), expect.closeTo(-3 / 8, 6)]);
    });

    it('does not overflow, and is not finite where a logit is not', () => {
      expect(productLoss(Float32Array.of(3000, 0), [0], 1).loss).toBe(0);
      expect(productLoss(Float32Array.of(3000, 0), [1], 1).loss).toBe(3000);
      expect(productLoss(Float32Array.of(0, NaN), [0], 1).loss).toBeNaN();
      expect(productLoss(Float32Array.of(0, Infinity), [0], 1).loss).toBeNaN();
    });

    it('sums in rank order, like the relay', async () => {
      const arrays = [0, 1, 2].map((rank) => Float32Array.of(1e8 * (1 - rank), 0.1, rank / 3));
      const { groups } = createInMemoryGroup([0, 1, 2]);
      const [reduced] = await Promise.all(groups.map((group, i) => group.allReduce(arrays[i].slice(), 'sum')));
      expect(sumInOrder(arrays)).toEqual(reduced);
    });
  });

  describe('ranks that are trained jointly', () => {
    const logitBytes = 4 * classes * Float32Array.BYTES_PER_ELEMENT;

    it.each([
      { mode: 'reduce', floats: ranksOf(members).map(() => 2) },
      { mode: 'gather', floats: ranksOf(members).map(() => 1 + members) },
      // Three ranks: the second and the third send to the first, and both receive its sum.
      { mode: 'tree', floats: [3, 2, 2] },
    ] as const)('end with the weights of one graph ($mode)', async ({ mode, floats }) => {
      const expected = trainOneGraph(0);
      const { losses, weights, traffic } = await trainRanks(mode);
      for (const own of losses) expectClose(own, expected.losses);
      weights.forEach((own, member) => expectClose(own, expected.weights[member]));
      expect(traffic).toEqual(floats.map((count) => logitBytes * count));
    });

    it('produce the same bits whether logits are reduced or gathered', async () => {
      expect((await trainRanks('gather')).weights).toEqual((await trainRanks('reduce')).weights);
    });

    it('are exactly one update late when pipelined', async () => {
      const expected = trainOneGraph(1);
      const { losses, weights } = await trainRanks('pipelined');
      for (const own of losses) expectClose(own, expected.losses);
      weights.forEach((own, member) => expectClose(own, expected.weights[member]));
      expect(weights[0]).not.toEqual(trainOneGraph(0).weights[0]);
    });

    it('all keep their weights when a loss is not finite', async () => {
      const { groups } = createInMemoryGroup([0, 1]);
      const outcomes = await Promise.all(
        groups.map(async (group) => {
          const member = createMember(group.rank);
          const before = weightsOf(member);
          const strategy: Strategy = new Joint({ kind: 'joint', mode: 'reduce' }, context);
          await strategy.setup(member, group, null);
          const features = group.rank === 1 ? batches[0].features.map(() => NaN) : batches[0].features;
          const outcome = await strategy.trainStep(member, { ...batches[0], features }, { learningRate }, position);
          expect(weightsOf(member)).toEqual(before);
          return outcome;
        }),
      );
      expect(outcomes).toEqual([
        { loss: NaN, updated: false },
        { loss: NaN, updated: false },
      ]);
    });

    it.each(['reduce', 'pipelined'] as const)('leak no tensor (%s)', async (mode) => {
      const before = tf.memory().numTensors;
      ranksOf(members).forEach(createMember);
      const created = tf.memory().numTensors;
      await trainRanks(mode);
      expect(tf.memory().numTensors - created).toBe(created - before);
    });
  });
}
