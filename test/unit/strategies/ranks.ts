import type { RunConfig, RunConfigInput } from '../../../core/protocol/run/config.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { samplerOf, samplesPerStep, splitsState } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import { createDataset, type Dataset, gatherBatch } from '../../../workers/data/dataset.ts';
import { createSampler } from '../../../workers/data/samplers.ts';
import { Generator } from '../../../workers/random/index.ts';
import { createStrategy } from '../../../workers/strategies/index.ts';
import type { StepOutcome, Strategy, StrategyState } from '../../../workers/strategies/strategy.ts';
import { tf, type LayersModel } from '../../../workers/tensorflow/tf.ts';
import { type LossFunction, Member } from '../../../workers/member/member.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import { slotStorageOf } from '../../../workers/optimizers/slots/bfloat16-slots.ts';
import { readTensors } from '../../../workers/member/weights.ts';
import { settingsAt } from '../../../workers/optimizers/schedules.ts';
import { type Task, taskOf } from '../../../workers/member/tasks.ts';
import { createInMemoryGroup, ranksOf } from '../relay/in-memory-group.ts';

/** Ranks that train in this process, step by step, without a trainer. */
export interface TrainedRank {
  group: ProcessGroup;
  member: Member;
  strategy: Strategy;
  /** The number of steps done in this process. */
  outcomes: StepOutcome[];
}

const random = new Generator(5, 'samples');
const sampleCount = 53;
const features = Float32Array.from({ length: sampleCount * 4 }, () => random.normal());
/** 53 samples of 4 numbers in 3 classes: neither 2 nor 3 ranks divide it. */
export const dataset = createDataset({
  name: 'noise',
  featureShape: [4],
  features,
  targets: Int32Array.from({ length: sampleCount }, (_, i) => (features[i * 4] > 0 ? 1 : 0) + (i % 5 === 0 ? 1 : 0)),
  classCount: 3,
});

/** A model whose initial weights depend only on the seed. */
export function createModel(seed: number): LayersModel {
  const generator = new Generator(seed, 'weights');
  const model = tf.sequential({
    layers: [tf.layers.dense({ units: 6, activation: 'tanh', inputShape: [4] }), tf.layers.dense({ units: 3 })],
  });
  const values = model.getWeights().map(({ shape, size }) => {
    const weights = new Float32Array(size);
    generator.fillNormal(weights);
    return tf.tensor(
      weights.map((weight) => weight / 2),
      shape,
    );
  });
  model.setWeights(values);
  tf.dispose(values);
  return model;
}

/** The model of `createModel` with these weights. */
export function createModelOf(weights: readonly number[]): LayersModel {
  const model = createModel(0);
  let start = 0;
  const values = model.getWeights().map(({ shape, size }) => tf.tensor(weights.slice(start, (start += size)), shape));
  model.setWeights(values);
  tf.dispose(values);
  return model;
}

/**
 * Ranks of a run after setup, by default for classification of {@link dataset}; another task needs a model (`create`)
 * and data (`trainRanks`) of its own. Before the strategy changes them, rank r's weights are those of seed + r.
 */
export async function createRanks(
  input: RunConfigInput,
  options: {
    task?: Task;
    create?: (seed: number) => LayersModel;
    loss?: LossFunction;
    totalSteps?: number;
    saved?: (StrategyState | null)[];
  } = {},
): Promise<TrainedRank[]> {
  const config = runConfigSchema.parse(input);
  const { members } = config;
  const { task = taskOf('classification') } = options;
  const groups = members === 1 ? [ProcessGroup.alone(0)] : createInMemoryGroup(ranksOf(members)).groups;
  const context = { config, task, totalSteps: options.totalSteps ?? 50 };
  const loss: LossFunction = (outputs, targets, { scalars }) =>
    task.loss(outputs, targets, { ...config.loss, ...Object.fromEntries(scalars ?? []) });
  return await Promise.all(
    groups.map(async (group) => {
      const member = new Member(
        (options.create ?? createModel)(config.seed + group.rank),
        options.loss ?? loss,
        (variables) => {
          const storage = slotStorageOf(config.optimizer.statePrecision, config.seed);
          return createOptimizer(config.optimizer, splitsState(config.strategy) ? [] : variables, storage);
        },
        config.optimizer,
      );
      const strategy = createStrategy(config.strategy, context);
      await strategy.setup(member, group, options.saved?.[group.rank] ?? null);
      return { group, member, strategy, outcomes: [] };
    }),
  );
}

/** Trains the ranks from one step to another, each on its own samples. */
export async function trainRanks(
  ranks: readonly TrainedRank[],
  input: RunConfigInput,
  { data = dataset, from = 0, to }: { data?: Dataset; from?: number; to: number },
): Promise<void> {
  const config = runConfigSchema.parse(input);
  await Promise.all(
    ranks.map(async ({ group, member, strategy, outcomes }) => {
      for (let step = from; step < to; step++) {
        const { epoch, indices } = samplesOf(config, group.rank, step, data);
        const position = { epoch, step, totalSteps: to };
        const settings = settingsAt(config.schedule, config.optimizer.learningRate, position);
        const outcome = await strategy.trainStep(member, gatherBatch(data, indices), settings, position);
        if (outcome !== null) outcomes.push(outcome);
      }
    }),
  );
}

/** Indices of the samples that a rank sees at a step, and their epoch. */
export function samplesOf(
  config: RunConfig,
  rank: number,
  step: number,
  data: Dataset = dataset,
): { epoch: number; indices: Int32Array } {
  const sampler = createSampler({
    kind: samplerOf(config),
    length: data.length,
    batchSize: samplesPerStep(config),
    dropLast: false,
    seed: config.seed + rank,
    sharedSeed: config.seed,
    rank,
    worldSize: config.members,
  });
  const epoch = Math.floor(step / sampler.batchesPerEpoch);
  return { epoch, indices: [...sampler.batches(epoch)][step % sampler.batchesPerEpoch] };
}

/** What a run would save of a strategy's state. */
export async function savedState(strategy: Strategy): Promise<StrategyState | null> {
  const state = strategy.state?.();
  if (state === undefined) return null;
  return { tensors: [...(await readTensors(state.tensors)), ...(state.files?.read() ?? [])], data: state.data };
}

/** All weights of a rank, concatenated. */
export function weightsOf({ member }: TrainedRank): number[] {
  return member.model.getWeights().flatMap((weight) => [...weight.dataSync()]);
}

/** {@link weightsOf} of each rank, also where ranks hold shards of the weights. */
export async function wholeWeights(ranks: readonly TrainedRank[]): Promise<number[][]> {
  const release = await Promise.all(
    ranks.map(async ({ strategy }) => (strategy.keepsWeights === true ? await strategy.assemble?.() : null)),
  );
  const weights = ranks.map(weightsOf);
  for (const each of release) each?.();
  return weights;
}

export function largestDifference(first: readonly number[], second: readonly number[]): number {
  return Math.max(...first.map((value, i) => Math.abs(value - second[i])));
}
