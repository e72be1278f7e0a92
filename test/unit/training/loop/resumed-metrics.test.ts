import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type RunConfigInput, runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { samplerOf, samplesPerStep } from '../../../../core/protocol/run/strategy-rules.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { createCallbacks } from '../../../../workers/callbacks/index.ts';
import type { ProcessGroup } from '../../../../workers/collectives/process-group.ts';
import { ownBatches } from '../../../../workers/data/batches.ts';
import { createSampler } from '../../../../workers/data/samplers.ts';
import { ensembleTask } from '../../../../workers/strategies/ensemble-task.ts';
import { createStrategy } from '../../../../workers/strategies/index.ts';
import { Controls } from '../../../../workers/training/controls.ts';
import { Member } from '../../../../workers/member/member.ts';
import { createOptimizer } from '../../../../workers/optimizers/optimizers.ts';
import type { TrainerParts } from '../../../../workers/training/rank-training.ts';
import { RunFiles } from '../../../../workers/member/run-files.ts';
import { type ResumedTraining, loadTrainingState } from '../../../../workers/training/saved-state.ts';
import { taskOf } from '../../../../workers/member/tasks.ts';
import { plannedSteps, Trainer } from '../../../../workers/training/trainer.ts';
import { createInMemoryGroup } from '../../relay/in-memory-group.ts';
import { createModel, dataset } from '../../strategies/ranks.ts';
import { KeptReport, type ReportedPoint, temporaryFolder } from './fakes.ts';

beforeAll(async () => void (await startBackend('cpu')));

/** 53 samples: 5 does not divide the steps of an epoch, so each round ends between two points. */
const base: RunConfigInput = {
  members: 2,
  batchSize: 4,
  maxEpochs: 4,
  logEverySteps: 5,
  optimizer: { kind: 'adam', learningRate: 0.02 },
  checkpoints: { stateEverySeconds: 0 },
};

const strategies: Record<string, RunConfigInput['strategy']> = {
  independent: { kind: 'independent' },
  'joint by reduce': { kind: 'joint', mode: 'reduce' },
  'joint by gather': { kind: 'joint', mode: 'gather' },
  'joint along a tree': { kind: 'joint', mode: 'tree' },
  'joint, pipelined': { kind: 'joint', mode: 'pipelined' },
  coupled: { kind: 'coupled', unlabelledBatchSize: 7, couplingWeight: 0.5 },
  'data-parallel': { kind: 'data-parallel', accumulate: 2, clipNorm: 1 },
  sharded: { kind: 'sharded' },
  hdet: { kind: 'hdet', spread: 0.3, averageEverySteps: 3 },
};

function partsOf(input: RunConfigInput, folder: string, group: ProcessGroup): TrainerParts & { report: KeptReport } {
  const config = runConfigSchema.parse(input);
  const task = ensembleTask(taskOf('classification'), config);
  const sampler = createSampler({
    kind: samplerOf(config),
    length: dataset.length,
    batchSize: samplesPerStep(config),
    dropLast: false,
    seed: config.seed + group.rank,
    sharedSeed: config.seed,
    rank: group.rank,
    worldSize: 2,
  });
  const files = new RunFiles(folder, group.rank);
  const context = { config, task, totalSteps: plannedSteps(config, sampler), unlabelled: dataset };
  return {
    config,
    member: new Member(
      createModel(config.seed + group.rank),
      (outputs, targets) => task.loss(outputs, targets),
      (variables) => createOptimizer(config.optimizer, config.strategy.kind === 'sharded' ? [] : variables),
    ),
    task,
    data: { train: dataset, validation: dataset },
    batches: ownBatches(dataset),
    sampler,
    strategy: createStrategy(config.strategy, context),
    callbacks: createCallbacks({
      config,
      task,
      files,
      groupRanks: [0, 1],
      finishedRanks: [],
      lostRanks: [],
      hasValidation: true,
    }),
    group,
    files,
    report: new KeptReport(),
    controls: new Controls(),
  };
}

/** What both ranks report, by rank, from the state of a round or from the beginning. */
async function pointsOf(input: RunConfigInput, folder: string, fromRound?: number): Promise<ReportedPoint[][]> {
  const ranks = createInMemoryGroup([0, 1]).groups.map((group) => partsOf(input, folder, group));
  const resumed: (ResumedTraining | undefined)[] = [];
  for (const { files, member, callbacks } of ranks) {
    resumed.push(fromRound === undefined ? undefined : await loadTrainingState(files, fromRound, member, callbacks));
  }
  await Promise.all(ranks.map((parts, i) => new Trainer(parts, resumed[i]).fit()));
  return ranks.map(({ report }) => report.points.filter(({ name }) => !name.endsWith('samples_per_second')));
}

function stepOfState(folder: string, rank: number, round: number): number {
  const record = readFileSync(join(folder, 'state', `rank-${rank}`, `round-${round}.json`), 'utf8');
  return (JSON.parse(record) as { step: number }).step;
}

describe.each(Object.entries(strategies))('metrics of %s training', (_, strategy) => {
  it('after a resume equal those of an uninterrupted run, point for point and bit for bit', async () => {
    const input = { ...base, strategy };
    const folder = await temporaryFolder();
    const through = await pointsOf(input, folder);
    const stateSteps = [0, 1].map((rank) => stepOfState(folder, rank, 3));
    // The two newest states are kept: those of rounds 3 and 4, which end epochs 2 and 3.
    const resumed = await pointsOf(input, folder, 3);
    resumed.forEach((points, rank) => {
      expect(points.length).toBeGreaterThan(1);
      expect(points).toEqual(through[rank].filter(({ step }) => step > stateSteps[rank]));
    });
  });
});
