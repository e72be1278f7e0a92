import { beforeAll, describe, expect, it } from 'vitest';
import { type RunConfigInput, runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { ProcessGroup } from '../../../../workers/collectives/process-group.ts';
import { type Batch, createDataset, gatherBatch } from '../../../../workers/data/dataset.ts';
import { Member } from '../../../../workers/member/member.ts';
import { hard } from '../../../../workers/member/sample-losses.ts';
import { taskFor } from '../../../../workers/member/tasks.ts';
import { taskLoss } from '../../../../workers/member/weighted-loss.ts';
import { createOptimizer } from '../../../../workers/optimizers/optimizers.ts';
import { cutModel } from '../../../../workers/strategies/pipeline/cut-model.ts';
import { createStrategy } from '../../../../workers/strategies/index.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { createInMemoryGroup, ranksOf } from '../../relay/in-memory-group.ts';

beforeAll(async () => void (await startBackend('wasm')));

const dataset = createDataset({
  name: 'sequences of different lengths',
  featureShape: [3, 2],
  features: Float32Array.from({ length: 36 }, (_, i) => Math.sin(i)),
  targets: Int32Array.from({ length: 18 }, (_, i) => i % 2),
  targetShape: [3],
  classCount: 2,
  mask: Uint8Array.of(1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1),
  weights: Float32Array.of(1, 2, 1, 1, 0.5, 3),
});
const task = taskFor({ task: 'classification' }, dataset);

/** One SGD step of one or several ranks: weights of the first rank and the loss. */
async function stepOf(input: RunConfigInput, batches: readonly Batch[], isIdentity = false) {
  const config = runConfigSchema.parse({ ...input, optimizer: { kind: 'sgd', learningRate: 0.5 } });
  const groups = batches.length === 1 ? [ProcessGroup.alone(0)] : createInMemoryGroup(ranksOf(batches.length)).groups;
  const ranks = await Promise.all(
    groups.map(async (group, i) => {
      const kernelInitializer = isIdentity ? tf.initializers.identity({}) : tf.initializers.constant({ value: 0.25 });
      const model = tf.sequential({ layers: [tf.layers.dense({ units: 2, inputShape: [3, 2], kernelInitializer })] });
      const { strategy: kind } = config;
      const stage =
        kind.kind === 'pipeline' ? await cutModel(model, { ...config, strategy: kind }, group, null) : undefined;
      const member = new Member(
        model,
        (outputs, targets, _, { weights, mask }) => taskLoss(task, outputs, targets, hard, { weights, mask }),
        (variables) => createOptimizer(config.optimizer, config.strategy.kind === 'sharded' ? [] : variables),
      );
      const strategy = createStrategy(config.strategy, { config, task, totalSteps: 1, stage });
      await strategy.setup(member, group, null);
      const settings = { learningRate: 0.5, momentum: 0, weightDecay: 0 };
      const outcome = await strategy.trainStep(member, batches[i], settings, { epoch: 0, step: 0, totalSteps: 1 });
      return { loss: outcome?.loss ?? NaN, weights: member.model.getWeights().flatMap((w) => [...w.dataSync()]) };
    }),
  );
  return ranks[0];
}

const batchOf = (...indices: number[]) => gatherBatch(dataset, Int32Array.from(indices));
const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 6) as number);

describe('masked sequences on several ranks', () => {
  it.each(['data-parallel', 'sharded'] as const)('%s makes the step of one rank with all samples', async (kind) => {
    const whole = await stepOf({ members: 1, batchSize: 6 }, [batchOf(0, 1, 2, 3, 4, 5)]);
    // The second rank has fewer steps that count, and its first part has none.
    const input = { members: 2, batchSize: 3, strategy: { kind } };
    const shared = await stepOf(input, [batchOf(0, 1, 5), batchOf(2, 3, 4)]);
    expect(shared.loss).toBeCloseTo(whole.loss, 6);
    expect(shared.weights).toEqual(close(whole.weights));
    const inParts = await stepOf({ ...input, batchSize: 1 }, [batchOf(0, 1, 5), batchOf(2, 3, 4)]);
    expect(inParts.weights).toEqual(close(whole.weights));
  });

  describe('whose samples are mixed', () => {
    const share = 0.7;
    const partners = Int32Array.of(4, 5, 0, 1, 3, 2);
    const own = batchOf(0, 1, 2, 3, 4, 5);
    const { targets, mask, weights } = gatherBatch(dataset, partners);
    const mixed: Batch = { ...own, mixed: { share, partner: { targets, mask, weights } } };

    /** Σ w·m·l / Σ m with the features as logits: l = log(e^a + e^b) − the logit of the label. */
    function lossOf({
      targets: labels,
      mask: counts,
      weights: w,
    }: Pick<Batch, 'targets' | 'mask' | 'weights'>): number {
      let [sum, count] = [0, 0];
      labels.forEach((label, i) => {
        const [a, b] = own.features.subarray(2 * i, 2 * i + 2);
        const isCounted = counts?.[i] ?? NaN;
        count += isCounted;
        sum +=
          isCounted * (w?.[Math.floor(i / 3)] ?? NaN) * (Math.log(Math.exp(a) + Math.exp(b)) - (label === 0 ? a : b));
      });
      return sum / count;
    }

    it.each<[string, RunConfigInput]>([
      ['one rank', { members: 1, batchSize: 6 }],
      ['data-parallel', { members: 1, batchSize: 2, strategy: { kind: 'data-parallel', accumulate: 3 } }],
      [
        'data-parallel, sample by sample',
        { members: 1, batchSize: 1, strategy: { kind: 'data-parallel', accumulate: 6 } },
      ],
      ['sharded', { members: 1, batchSize: 2, strategy: { kind: 'sharded', accumulate: 3 } }],
      ['sharded, stage 2', { members: 1, batchSize: 2, strategy: { kind: 'sharded', stage: 2, accumulate: 3 } }],
      ['pipeline', { members: 1, batchSize: 6, strategy: { kind: 'pipeline', microBatches: 4 } }],
    ])('%s divides both losses by what counts in the whole batch', async (_, input) => {
      const { loss, weights: after } = await stepOf(input, [mixed], true);
      expect(loss).toBeCloseTo(share * lossOf(own) + (1 - share) * lossOf({ targets, mask, weights }), 6);
      const whole = await stepOf({ members: 1, batchSize: 6 }, [mixed], true);
      expect(after).toEqual(close(whole.weights));
    });
  });

  it('make no update where no target of the step counts', async () => {
    const before = await stepOf({ members: 2, batchSize: 1, strategy: { kind: 'data-parallel' } }, [
      batchOf(2),
      batchOf(3),
    ]);
    expect(before.loss).toBe(0);
    expect(new Set(before.weights)).toEqual(new Set([0.25, 0]));
  });
});
