import { beforeAll, describe, expect, it } from 'vitest';
import type { Control } from '../../../../core/protocol/run/messages.ts';
import { type RunConfigInput, runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { findResumePoint } from '../../../../src-main/store/runs/resume-point.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { EarlyStopping } from '../../../../workers/callbacks/early-stopping.ts';
import { readCheckpoint } from '../../../../workers/checkpoints/checkpoint-store.ts';
import { ProcessGroup } from '../../../../workers/collectives/process-group.ts';
import { ownBatches } from '../../../../workers/data/batches.ts';
import { createDataset } from '../../../../workers/data/dataset.ts';
import { createSampler } from '../../../../workers/data/samplers.ts';
import { independentStrategy } from '../../../../workers/strategies/independent.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { Controls } from '../../../../workers/training/controls.ts';
import { Member } from '../../../../workers/member/member.ts';
import { createOptimizer } from '../../../../workers/optimizers/optimizers.ts';
import { RunFiles } from '../../../../workers/member/run-files.ts';
import { loadTrainingState } from '../../../../workers/training/saved-state.ts';
import { taskOf } from '../../../../workers/member/tasks.ts';
import { Trainer, type TrainerSetup } from '../../../../workers/training/trainer.ts';
import { createInMemoryGroup } from '../../relay/in-memory-group.ts';
import { KeptReport, temporaryFolder } from './fakes.ts';

beforeAll(async () => void (await startBackend('cpu')));

const x = Float32Array.of(-1, 0, 1, 2, 3, 4);
const line = createDataset({ name: 'line', featureShape: [1], features: x, targets: x.map((value) => 3 * value) });
const task = taskOf('regression');

interface Options {
  folder: string;
  group?: ProcessGroup;
  config?: RunConfigInput;
  /** Controls that arrive during a step, by step counted from 0. */
  signals?: Record<number, Control>;
}

/** A rank that learns y = 3x with plain gradient descent, three steps per epoch. */
function createParts({ folder, group = ProcessGroup.alone(0), config: input, signals = {} }: Options) {
  const config = runConfigSchema.parse({
    members: 2,
    batchSize: 2,
    maxEpochs: 4,
    logEverySteps: 1,
    optimizer: { kind: 'sgd', learningRate: 0.01, momentum: 0.5 },
    checkpoints: { stateEverySeconds: 0 },
    ...input,
  });
  const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [1], kernelInitializer: 'zeros' })] });
  const controls = new Controls();
  const member = new Member(
    model,
    (outputs, targets, { step }) => {
      if (step in signals) controls.take(signals[step]);
      return task.loss(outputs, targets);
    },
    (variables) => createOptimizer(config.optimizer, variables),
  );
  const sampler = createSampler({
    kind: 'sequential',
    length: line.length,
    batchSize: 2,
    dropLast: false,
    seed: 1,
    sharedSeed: 1,
    rank: 0,
    worldSize: 1,
  });
  const report = new KeptReport();
  return {
    config,
    member,
    task,
    data: { train: line, validation: line },
    batches: ownBatches(line),
    sampler,
    strategy: independentStrategy(),
    callbacks: [],
    group,
    files: new RunFiles(folder, group.rank),
    report,
    controls,
  } satisfies TrainerSetup;
}

const weightsOf = ({ training }: Trainer): number[] =>
  training.model.getWeights().map((weight) => weight.dataSync()[0]);
const ratesOf = ({ points }: KeptReport): number[][] =>
  points.flatMap(({ name, step, value }) => (name.endsWith('_lr') ? [[step, value]] : []));
const set = (learningRate: number): Control => ({ action: 'set', changes: { learningRate } });

describe('a changed learning rate', () => {
  it('takes effect in the step after the one that the event names', async () => {
    const parts = createParts({
      folder: await temporaryFolder(),
      config: { maxEpochs: 2 },
      signals: { 3: set(0.002) },
    });
    await new Trainer(parts).fit();
    expect(ratesOf(parts.report)).toEqual([
      [1, 0.01],
      [2, 0.01],
      [3, 0.01],
      [4, 0.01],
      [5, 0.002],
      [6, 0.002],
    ]);
    const data = { path: 'optimizer.learningRate', from: 0.01, to: 0.002 };
    expect(parts.report.events).toEqual([
      { kind: 'changed', message: 'optimizer.learningRate changed from 0.01 to 0.002.', epoch: 1, step: 4, data },
    ]);
  });

  it('becomes the base of the schedule', async () => {
    const schedule = { kind: 'step' as const, everyEpochs: 1, factor: 0.5 };
    const config = { maxEpochs: 3, schedule };
    const parts = createParts({ folder: await temporaryFolder(), config, signals: { 3: set(0.1) } });
    await new Trainer(parts).fit();
    // Epochs 0, 1, 2 have factors 1, 1/2, 1/4.
    expect(ratesOf(parts.report).map(([, rate]) => rate)).toEqual([
      0.01, 0.01, 0.01, 0.005, 0.05, 0.05, 0.025, 0.025, 0.025,
    ]);
  });

  it('survives a resume, bit for bit', async () => {
    const signals = { 2: set(0.002) };
    const whole = new Trainer(createParts({ folder: await temporaryFolder(), signals }));
    await whole.fit();

    const folder = await temporaryFolder();
    await new Trainer(createParts({ folder, signals, config: { maxSteps: 7 } })).fit();
    const parts = createParts({ folder });
    const round = (await findResumePoint(folder, [0]))?.round ?? -1;
    const resumed = new Trainer(parts, await loadTrainingState(parts, { round, worldSize: 1 }));
    await resumed.fit();
    expect(weightsOf(resumed)).toEqual(weightsOf(whole));
    expect(parts.report.events).toEqual([]);
  });

  it('applies from the first step of a resume if it came after the last saved state', async () => {
    const folder = await temporaryFolder();
    await new Trainer(createParts({ folder, config: { maxSteps: 7 } })).fit();
    const parts = createParts({ folder });
    parts.controls.take(set(0.002));
    const round = (await findResumePoint(folder, [0]))?.round ?? -1;
    await new Trainer(parts, await loadTrainingState(parts, { round, worldSize: 1 })).fit();
    expect(parts.report.events).toMatchObject([{ kind: 'changed', step: 7, data: { from: 0.01, to: 0.002 } }]);
    expect(ratesOf(parts.report)[0]).toEqual([8, 0.002]);
  });
});

it('a changed patience applies from the next evaluation', async () => {
  const config = { maxEpochs: 9, earlyStopping: { enabled: true, patience: 20 } };
  const signals: Record<number, Control> = { 7: { action: 'set', changes: { patience: 2 } } };
  const parts = createParts({ folder: await temporaryFolder(), config, signals });
  const worse = {
    name: 'ever worse',
    onEvaluation: async (_: unknown, { epoch, metrics }: { epoch: number; metrics: Map<string, number> }) =>
      void metrics.set('score', epoch),
  };
  const trainer = new Trainer({
    ...parts,
    callbacks: [worse, new EarlyStopping({ monitor: 'score', mode: 'min', patience: 20 })],
  });
  expect(await trainer.fit()).toBe('early-stopping');
  // The third epoch's evaluation is the second without an improvement.
  expect(trainer.training.step).toBe(9);
});

describe('a rank stopped alone', () => {
  it('keeps its weights from that step, while the others train to the end', async () => {
    const folder = await temporaryFolder();
    const { groups } = createInMemoryGroup([0, 1]);
    const [stopped, other] = groups.map((group) =>
      createParts({ folder, group, signals: group.rank === 0 ? { 4: { action: 'stop-rank', rank: 0 } } : {} }),
    );
    const trainers = [stopped, other].map((parts) => new Trainer(parts));
    expect(await Promise.all(trainers.map((trainer) => trainer.fit()))).toEqual(['completed', 'completed']);
    expect(trainers.map(({ training }) => training.step)).toEqual([5, 12]);
    expect(stopped.report.states.filter((state) => state === 'standing-by')).toHaveLength(3);
    expect(stopped.report.events).toMatchObject([{ kind: 'rank-stopped', epoch: 1, step: 5 }]);

    const { record, tensors } = await readCheckpoint(folder, 0, 'stopped-5');
    expect(record).toMatchObject({ epoch: 1, step: 5 });
    expect(new Set(tensors.map(({ data }) => data[0]))).toEqual(new Set(weightsOf(trainers[0])));
  });

  it('is still stopped after a resume', async () => {
    const folder = await temporaryFolder();
    const signals: Record<number, Control> = { 1: { action: 'stop-rank', rank: 0 } };
    await new Trainer(createParts({ folder, signals })).fit();
    const parts = createParts({ folder });
    const round = (await findResumePoint(folder, [0]))?.round ?? -1;
    const resumed = new Trainer(parts, await loadTrainingState(parts, { round, worldSize: 1 }));
    expect(await resumed.fit()).toBe('requested');
    expect(resumed.training.step).toBe(2);
  });
});

it('a stop at the end of the epoch completes it', async () => {
  const signals: Record<number, Control> = { 3: { action: 'stop-at-epoch-end' } };
  const trainer = new Trainer(createParts({ folder: await temporaryFolder(), signals }));
  expect(await trainer.fit()).toBe('requested');
  expect(trainer.training.progress).toMatchObject({ epoch: 2, batch: 0, step: 6 });
});
