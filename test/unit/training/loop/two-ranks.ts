import { type RunConfigInput, runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { samplerOf, samplesPerStep, splitsState } from '../../../../core/protocol/run/strategies/strategy-rules.ts';
import { createCallbacks } from '../../../../workers/callbacks/index.ts';
import type { ProcessGroup } from '../../../../workers/collectives/process-group.ts';
import type { Dataset } from '../../../../workers/data/dataset.ts';
import { openBatches } from '../../../../workers/data/streams/open-batches.ts';
import { holdOutOf, withHoldOut } from '../../../../workers/data/hold-out.ts';
import { createSampler } from '../../../../workers/data/samplers.ts';
import { ensembleTask } from '../../../../workers/strategies/strategy.ts';
import { createStrategy } from '../../../../workers/strategies/index.ts';
import { Controls } from '../../../../workers/training/controls.ts';
import { Member } from '../../../../workers/member/member.ts';
import { createOptimizer } from '../../../../workers/optimizers/optimizers.ts';
import type { TrainerSetup } from '../../../../workers/training/trainer.ts';
import { RunFiles } from '../../../../workers/member/run-files.ts';
import { taskOf } from '../../../../workers/member/tasks.ts';
import { plannedSteps } from '../../../../workers/training/round-plan.ts';
import { createModel, dataset } from '../../strategies/ranks.ts';
import { KeptReport } from './fakes.ts';

/** 53 samples: 5 does not divide the steps of an epoch, so each round ends between two points. */
export const base: RunConfigInput = {
  members: 2,
  batchSize: 4,
  maxEpochs: 4,
  logEverySteps: 5,
  optimizer: { kind: 'adam', learningRate: 0.02, clipNorm: 1 },
  // Evaluated and saved weights are averages.
  ema: { decay: 0.8 },
  // No evaluation counts as an improvement, so each but the first halves the rate.
  schedule: { kind: 'plateau', factor: 0.5, patience: 0, minDelta: 100 },
  checkpoints: { stateEverySeconds: 0 },
};

type Strategy = NonNullable<RunConfigInput['strategy']>;

/** The forms of each strategy that these tests train, by name. The ranks of a pipeline need parts of a model. */
const formsOf: Record<Exclude<Strategy['kind'], 'pipeline'>, Record<string, Strategy>> = {
  independent: { independent: { kind: 'independent' } },
  joint: {
    'joint by reduce': { kind: 'joint', mode: 'reduce' },
    'joint by gather': { kind: 'joint', mode: 'gather' },
    'joint along a tree': { kind: 'joint', mode: 'tree' },
    'joint, pipelined': { kind: 'joint', mode: 'pipelined' },
  },
  coupled: { coupled: { kind: 'coupled', unlabelledBatchSize: 7, couplingWeight: 0.5 } },
  'data-parallel': { 'data-parallel': { kind: 'data-parallel', accumulate: 2 } },
  sharded: { sharded: { kind: 'sharded' } },
  hdet: { hdet: { kind: 'hdet', spread: 0.3, averageEverySteps: 3 } },
};

/** By name; all with two members. */
export const strategies = Object.assign({}, ...Object.values(formsOf)) as Record<string, Strategy>;

/** A rank of a run, with everything that a worker would give it. */
export function partsOf(
  input: RunConfigInput,
  folder: string,
  group: ProcessGroup,
  train: Dataset = dataset,
): TrainerSetup & { report: KeptReport } {
  const config = runConfigSchema.parse(input);
  const task = ensembleTask(taskOf('classification'), config);
  const holdOut = holdOutOf(config, dataset);
  const rows = holdOut?.trainingRows(group.rank);
  const sampler = createSampler({
    kind: train.stream === undefined ? samplerOf(config) : 'sequential',
    length: rows?.length ?? dataset.length,
    rows,
    batchSize: samplesPerStep(config),
    dropLast: false,
    seed: config.seed + group.rank,
    sharedSeed: config.seed,
    rank: group.rank,
    worldSize: config.members,
  });
  const files = new RunFiles(folder, group.rank);
  const context = { config, task, totalSteps: plannedSteps(config, sampler), unlabelled: dataset };
  return {
    config,
    member: new Member(
      createModel(config.seed + group.rank),
      (outputs, targets) => task.loss(outputs, targets),
      (variables) => createOptimizer(config.optimizer, splitsState(config.strategy) ? [] : variables),
      { ...config.optimizer, averageDecay: config.ema.decay },
    ),
    task,
    data: holdOut === null ? { train: dataset, validation: dataset } : withHoldOut({ train: dataset }, holdOut),
    batches: openBatches(train, { seed: config.seed + group.rank, rank: group.rank }),
    sampler,
    strategy: createStrategy(config.strategy, context),
    callbacks: createCallbacks({
      config,
      task,
      files,
      finishedRanks: [],
      isInWaves: false,
      hasValidation: true,
    }),
    group,
    files,
    report: new KeptReport(),
    controls: new Controls(),
  };
}
