import { type RunConfig, type RunConfigInput, runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { ProcessGroup } from '../../../../workers/collectives/process-group.ts';
import { createDataset, type Dataset, gatherBatch } from '../../../../workers/data/dataset.ts';
import { Member } from '../../../../workers/member/member.ts';
import { taskOf } from '../../../../workers/member/tasks.ts';
import { createOptimizer } from '../../../../workers/optimizers/optimizers.ts';
import { Generator, installAsMathRandom } from '../../../../workers/random/index.ts';
import { cutModel } from '../../../../workers/strategies/pipeline/cut-model.ts';
import { createStrategy } from '../../../../workers/strategies/index.ts';
import type { StepOutcome, Strategy } from '../../../../workers/strategies/strategy.ts';
import { tf, type LayersModel } from '../../../../workers/tensorflow/tf.ts';
import { createInMemoryGroup, ranksOf } from '../../relay/in-memory-group.ts';

/** A rank of a pipeline in this process. */
export interface Stage {
  group: ProcessGroup;
  member: Member;
  strategy: Strategy;
  outcomes: StepOutcome[];
}

const samples = new Generator(5, 'samples');
export const dataset: Dataset = createDataset({
  name: 'noise',
  featureShape: [6],
  features: Float32Array.from({ length: 40 * 6 }, () => samples.normal()),
  targets: Int32Array.from({ length: 40 }, (_, i) => i % 3),
  classCount: 3,
});
const task = taskOf('classification');

/** A deep model with penalties, as every rank builds it. */
export function deepModel(): LayersModel {
  const { dense } = tf.layers;
  const l2 = () => tf.regularizers.l2({ l2: 0.001 });
  const layers = Array.from({ length: 7 }, (_, i) =>
    dense({ units: 6, activation: 'tanh', inputShape: [6], ...(i % 2 === 0 && { kernelRegularizer: l2() }) }),
  );
  return tf.sequential({ layers: [...layers, dense({ units: 3 })] });
}

/** A model with a connection that skips a block. */
export function skippingModel(): LayersModel {
  const { dense, add, activation } = tf.layers;
  const input = tf.input({ shape: [6] });
  let x = dense({ units: 6 }).apply(input) as typeof input;
  for (let block = 0; block < 4; block++) {
    const inner = dense({ units: 6, activation: 'relu' }).apply(x) as typeof input;
    x = activation({ activation: 'tanh' }).apply(add().apply([x, inner])) as typeof input;
  }
  return tf.model({ inputs: input, outputs: dense({ units: 3 }).apply(x) as typeof input });
}

export async function createStages(input: RunConfigInput, create: () => LayersModel): Promise<Stage[]> {
  const config = runConfigSchema.parse(input);
  const { members, strategy: kind } = config;
  const groups = members === 1 ? [ProcessGroup.alone(0)] : createInMemoryGroup(ranksOf(members)).groups;
  const models = groups.map(() => {
    installAsMathRandom(new Generator(3, 'weights'));
    return create();
  });
  return await Promise.all(
    groups.map(async (group, i) => {
      const model = models[i];
      const stage =
        kind.kind === 'pipeline' ? await cutModel(model, { ...config, strategy: kind }, group, null) : undefined;
      const member = new Member(
        model,
        (outputs, targets) => task.loss(outputs, targets),
        (variables) => createOptimizer(config.optimizer, variables),
        stage === undefined
          ? { ...config.optimizer, averageDecay: config.ema.decay }
          : { clipNorm: 0, clipValue: 0, groups: [], averageDecay: config.ema.decay },
      );
      const strategy = createStrategy(kind, { config, task, totalSteps: 50, stage });
      await strategy.setup(member, group, null);
      return { group, member, strategy, outcomes: [] };
    }),
  );
}

/** Trains all ranks on the same batches. */
export async function trainStages(stages: readonly Stage[], config: RunConfigInput, steps: number): Promise<void> {
  const { batchSize, optimizer }: RunConfig = runConfigSchema.parse(config);
  await Promise.all(
    stages.map(async ({ member, strategy, outcomes }) => {
      for (let step = 0; step < steps; step++) {
        const indices = Int32Array.from({ length: batchSize }, (_, i) => (step * batchSize + i) % dataset.length);
        const position = { epoch: 0, step, totalSteps: steps };
        const outcome = await strategy.trainStep(member, gatherBatch(dataset, indices), optimizer, position);
        if (outcome !== null) outcomes.push(outcome);
      }
    }),
  );
}

export function largestDifference(first: ArrayLike<number>, second: ArrayLike<number>): number {
  if (first.length !== second.length) return Infinity;
  return Math.max(...Array.from(first, (value, i) => Math.abs(value - second[i])));
}
