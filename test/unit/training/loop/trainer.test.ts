import { beforeAll, describe, expect, it } from 'vitest';
import { type RunConfigInput, runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { findResumePoint } from '../../../../src-main/store/runs/resume-point.ts';
import type { Callback } from '../../../../workers/callbacks/callback.ts';
import { DistributedSeeder } from '../../../../workers/callbacks/distributed-seeder.ts';
import { PerRankBestCheckpoint } from '../../../../workers/callbacks/per-rank-checkpoint.ts';
import { ProcessGroup } from '../../../../workers/collectives/process-group.ts';
import { ownBatches } from '../../../../workers/data/batches.ts';
import { createDataset } from '../../../../workers/data/dataset.ts';
import { independentStrategy } from '../../../../workers/strategies/independent.ts';
import type { Strategy } from '../../../../workers/strategies/strategy.ts';
import { tf, type LayersModel } from '../../../../workers/tensorflow/tf.ts';
import { Controls } from '../../../../workers/training/controls.ts';
import { Member, type LossFunction } from '../../../../workers/member/member.ts';
import { createOptimizer } from '../../../../workers/optimizers/optimizers.ts';
import { RunFiles } from '../../../../workers/member/run-files.ts';
import { loadTrainingState } from '../../../../workers/training/saved-state.ts';
import { taskOf } from '../../../../workers/member/tasks.ts';
import { NonFiniteLossError } from '../../../../workers/training/rendezvous.ts';
import { Trainer, type TrainerSetup } from '../../../../workers/training/trainer.ts';
import { createInMemoryGroup } from '../../relay/in-memory-group.ts';
import { KeptReport, temporaryFolder, pairsInOrder } from './fakes.ts';

beforeAll(async () => void (await startBackend('cpu')));

const x = Float32Array.of(-1, 0, 1, 2, 3, 4);
const line = createDataset({ name: 'line', featureShape: [1], features: x, targets: x.map((value) => 3 * value) });
const task = taskOf('regression');

interface Fixture {
  trainer: Trainer;
  parts: TrainerSetup & { report: KeptReport };
}

interface Options {
  group?: ProcessGroup;
  callbacks?: Callback[];
  loss?: LossFunction;
  config?: RunConfigInput;
}

/** A rank that learns y = 3x with two samples per step and three steps per epoch. */
function createFixture(folder: string, options: Options = {}): Fixture {
  const { group = ProcessGroup.alone(0), callbacks = [] } = options;
  const config = runConfigSchema.parse({ batchSize: 2, maxEpochs: 3, members: 2, logEverySteps: 1, ...options.config });
  const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [1], kernelInitializer: 'zeros' })] });
  const loss: LossFunction = options.loss ?? ((outputs, targets) => task.loss(outputs, targets));
  const parts = {
    config,
    member: new Member(model, loss, (variables) => createOptimizer(config.optimizer, variables)),
    task,
    data: { train: line, validation: line },
    batches: ownBatches(line),
    sampler: pairsInOrder(line.length),
    strategy: independentStrategy(),
    callbacks,
    group,
    files: new RunFiles(folder, group.rank),
    report: new KeptReport(),
    controls: new Controls(),
  };
  return { parts, trainer: new Trainer(parts) };
}

/** Two ranks in one process that take turns at every collective. */
function createPair(folder: string, optionsOf: (rank: number) => Options): Fixture[] {
  const { groups } = createInMemoryGroup([0, 1]);
  return groups.map((group) => createFixture(folder, { group, ...optionsOf(group.rank) }));
}

const weightsOf = (model: LayersModel): number[] => model.getWeights().map((weight) => weight.dataSync()[0]);

const standBy: Callback = {
  name: 'stand-by',
  async onEvaluation(training) {
    training.standBy();
  },
};

describe('a loss that is not finite', () => {
  const nanAt = (wrongStep: number): LossFunction => {
    return (outputs, targets, { step }) => {
      const loss = task.loss(outputs, targets);
      return step === wrongStep ? tf.mul(loss, NaN) : loss;
    };
  };

  it('ends all ranks with the same error, without an update in its step', async () => {
    const [healthy, failing] = createPair(await temporaryFolder(), (rank) => (rank === 1 ? { loss: nanAt(1) } : {}));
    const config = { maxSteps: 1 };
    const once = createFixture(await temporaryFolder(), { config });
    await once.trainer.fit();
    const errors = await Promise.all(
      [healthy, failing].map(({ trainer }) => trainer.fit().catch((error: unknown) => error)),
    );
    for (const error of errors) {
      expect(error).toBeInstanceOf(NonFiniteLossError);
      expect((error as NonFiniteLossError).at).toEqual({ rank: 1, epoch: 0, step: 2 });
    }
    expect(failing.trainer.training.step).toBe(2);
    expect(weightsOf(failing.trainer.training.model)).toEqual(weightsOf(once.trainer.training.model));
  });

  it('is skipped where updates may be skipped', async () => {
    const { trainer, parts } = createFixture(await temporaryFolder(), {
      loss: nanAt(1),
      config: { onNonFinite: 'skip' },
    });
    expect(await trainer.fit()).toBe('completed');
    expect(trainer.training.step).toBe(9);
    expect(parts.member.optimizer.steps).toEqual([8, 8]);
    expect(parts.report.events).toMatchObject([{ kind: 'non-finite-loss', epoch: 0, step: 2 }]);
  });
});

describe('a rank on standby', () => {
  it('stops training, while evaluations continue at the position of the others', async () => {
    const [first, second] = createPair(await temporaryFolder(), (rank) => (rank === 0 ? { callbacks: [standBy] } : {}));
    const reasons = await Promise.all([first, second].map(({ trainer }) => trainer.fit()));
    expect(reasons).toEqual(['early-stopping', 'early-stopping']);
    expect([first.trainer.training.step, second.trainer.training.step]).toEqual([3, 9]);
    const losses = first.parts.report.points.filter(({ name }) => name === 'train/loss');
    expect(losses.map(({ epoch, step }) => [epoch, step])).toEqual([
      [0, 3],
      [1, 6],
      [2, 9],
    ]);
    expect(first.parts.report.states.filter((state) => state === 'standing-by')).toHaveLength(2);
  });

  it('also saves a requested checkpoint', async () => {
    const [first, second] = createPair(await temporaryFolder(), (rank) => {
      const ask: Callback = {
        name: 'ask',
        async onEvaluation(_, { epoch }) {
          if (epoch === 0) for (const { parts } of [first, second]) parts.controls.checkpointNames.push('asked');
        },
      };
      return { callbacks: rank === 0 ? [standBy, ask] : [] };
    });
    await Promise.all([first, second].map(({ trainer }) => trainer.fit()));
    expect(first.parts.report.checkpoints).toMatchObject([{ rank: 0, name: 'asked', epoch: 0, step: 3 }]);
    expect(second.parts.report.checkpoints).toMatchObject([{ rank: 1, name: 'asked' }]);
  });
});

describe('the end of training', () => {
  it('comes at the last step, even within an epoch', async () => {
    const { trainer } = createFixture(await temporaryFolder(), { config: { maxSteps: 4 } });
    expect(await trainer.fit()).toBe('completed');
    expect([trainer.training.epoch, trainer.training.step]).toEqual([1, 4]);
  });

  it('comes for all ranks when one is requested to stop', async () => {
    const [first, second] = createPair(await temporaryFolder(), () => ({}));
    second.parts.controls.take({ action: 'stop' });
    const reasons = await Promise.all([first, second].map(({ trainer }) => trainer.fit()));
    expect(reasons).toEqual(['requested', 'requested']);
    expect([first.trainer.training.step, second.trainer.training.step]).toEqual([3, 0]);
  });

  it('leaks no tensor', async () => {
    const folder = await temporaryFolder();
    const { trainer } = createFixture(folder);
    const { numTensors } = tf.memory();
    await trainer.fit();
    expect(tf.memory().numTensors).toBe(numTensors);
  });
});

describe('a resumed rank', () => {
  const createCallbacks = (): Callback[] => [
    new DistributedSeeder({ baseSeed: 5, rank: 0 }),
    { name: 'score', onEvaluation: async ({ step }, { metrics }) => void metrics.set('score', -step) },
    new PerRankBestCheckpoint({ monitor: 'score', mode: 'min', name: 'best' }),
  ];
  const options = (config: RunConfigInput) => ({
    callbacks: createCallbacks(),
    // Like dropout: the seeder's stream must resume as healthy.
    loss: ((outputs, targets) => tf.mul(task.loss(outputs, targets), Math.random() + 0.5)) as LossFunction,
    config: { checkpoints: { stateEverySeconds: 0 }, evaluateEveryEpochs: 2, ...config },
  });

  it.each([3, 4, 6])('stopped after %i steps gives the same results as an uninterrupted run', async (maxSteps) => {
    const whole = createFixture(await temporaryFolder(), options({ maxEpochs: 5 }));
    await whole.trainer.fit();

    const folder = await temporaryFolder();
    await createFixture(folder, options({ maxEpochs: 5, maxSteps })).trainer.fit();
    const { parts } = createFixture(folder, options({ maxEpochs: 5 }));
    const round = (await findResumePoint(folder, [0]))?.round ?? -1;
    const state = await loadTrainingState(parts, { round, worldSize: 1 });
    const resumed = new Trainer(parts, state);
    expect(resumed.training.step).toBe(maxSteps);
    await resumed.fit();

    expect(weightsOf(resumed.training.model)).toEqual(weightsOf(whole.trainer.training.model));
    expect(resumed.training.progress).toMatchObject({ epoch: 5, batch: 0, step: 15 });
    const lossesAfter = (report: KeptReport) =>
      report.points.filter(({ name, step }) => name === 'train/member_0_loss' && step > maxSteps);
    expect(lossesAfter(parts.report)).toEqual(lossesAfter(whole.parts.report));
    const last = resumed.history.series.get('score');
    expect(last?.steps.at(-1)).toBe(15);
    expect(last?.steps[0]).toBe(Math.min(maxSteps, 6));
  });

  it('refuses the state of another model', async () => {
    const folder = await temporaryFolder();
    await createFixture(folder, { config: { maxSteps: 1 } }).trainer.fit();
    const { parts } = createFixture(folder);
    const other = tf.sequential({ layers: [tf.layers.dense({ units: 2, inputShape: [1] })] });
    const loss: LossFunction = (outputs, targets) => task.loss(outputs, targets);
    const member = new Member(other, loss, (variables) => createOptimizer(parts.config.optimizer, variables));
    await expect(loadTrainingState({ ...parts, member }, { round: 1, worldSize: 1 })).rejects.toThrow(
      'The state of rank 0 at round 1 does not fit this model: "dense_0/kernel" is [1, 1], the model\'s is [1, 2].',
    );
  });
});

it("logs the strategy's values at the logging interval", async () => {
  const { parts } = createFixture(await temporaryFolder(), { config: { logEverySteps: 2 } });
  const strategy = Object.assign(independentStrategy(), { points: () => new Map([['train/told', 1]]) });
  await new Trainer({ ...parts, strategy }).fit();
  const told = parts.report.points.filter(({ name }) => name === 'train/told');
  // Three epochs of three steps.
  expect(told.map(({ step }) => step)).toEqual([2, 4, 6, 8]);
});

describe('the learning rate after a resume', () => {
  const adam = { kind: 'adam', learningRate: 0.05 } as const;

  /**
   * Trains three epochs of three steps, then resumes with changes.
   * @returns the rates by step, and what the resume announces
   */
  async function ratesAround(first: RunConfigInput, changes: RunConfigInput, strategy?: Strategy) {
    const folder = await temporaryFolder();
    const rates: number[] = [];
    const meter: Callback = { name: 'rates', onStepEnd: (_, { learningRate }) => void rates.push(learningRate) };
    await createFixture(folder, { config: { optimizer: adam, ...first }, callbacks: [meter] }).trainer.fit();
    const config = { optimizer: adam, ...first, ...changes };
    const fixture = createFixture(folder, { config, callbacks: [meter] });
    const parts = { ...fixture.parts, ...(strategy && { strategy }) };
    const round = (await findResumePoint(folder, [0]))?.round ?? -1;
    await new Trainer(parts, await loadTrainingState(parts, { round, worldSize: 1 })).fit();
    return { rates, told: fixture.parts.report.events.filter(({ kind }) => kind === 'rate-jumped') };
  }

  // Over 9 steps, the last one is at 0.05 (1 + cos(8π/9)) / 2; over 18 steps, the tenth is at 0.05 (1 + cos(π/2)) / 2.
  const last = 0.05 * 0.030153689607045786;

  it('is announced with both values where a longer course of the schedule raises it', async () => {
    const { rates, told } = await ratesAround({ schedule: { kind: 'cosine' } }, { maxEpochs: 6 });
    expect(rates[8]).toBeCloseTo(last, 12);
    expect(rates[9]).toBeCloseTo(0.025, 12);
    expect(told).toMatchObject([{ step: 9, data: { from: rates[8], to: rates[9] } }]);
    expect(told[0].message).toMatch(
      /^The learning rate goes from 0\.001508 to 0\.025, because the schedule cosine is spread over 18 steps now, and was over 9\. .*--schedule-epochs 3/,
    );
  });

  it('stays at the last planned one with the epochs of the schedule, and is not announced', async () => {
    for (const kind of ['cosine', 'polynomial', 'one-cycle'] as const) {
      const { rates, told } = await ratesAround({ schedule: { kind } }, { maxEpochs: 6, scheduleEpochs: 3 });
      expect(rates).toHaveLength(18);
      expect(rates.slice(9), kind).toEqual(Array.from({ length: 9 }, () => rates[8]));
      expect(told).toEqual([]);
    }
  });

  it('goes on where the schedule was planned for more epochs, or does not depend on their number', async () => {
    const planned = await ratesAround({ schedule: { kind: 'cosine' }, scheduleEpochs: 6 }, { maxEpochs: 6 });
    expect(planned.rates[9]).toBeCloseTo(0.025, 12);
    const constant = await ratesAround({}, { maxEpochs: 6 });
    const steps = await ratesAround({ schedule: { kind: 'step', everyEpochs: 2, factor: 0.5 } }, { maxEpochs: 6 });
    expect([planned, constant, steps].flatMap(({ told }) => told)).toEqual([]);
  });

  it('is announced for a strategy that adapts rates only until it does', async () => {
    const changes = { schedule: { kind: 'cosine' }, maxEpochs: 3 } as const;
    const told = async (isScheduled: boolean) => {
      const strategy = Object.assign(independentStrategy(), { followsSchedule: () => isScheduled });
      return (await ratesAround(changes, { maxEpochs: 6 }, strategy)).told;
    };
    expect(await told(true)).toMatchObject([{ step: 9, data: { to: 0.025 } }]);
    expect(await told(false)).toEqual([]);
  });

  it('is announced where the schedule itself has changed', async () => {
    const { told } = await ratesAround(
      { schedule: { kind: 'cosine' } },
      { maxEpochs: 6, schedule: { kind: 'constant' } },
    );
    expect(told).toMatchObject([
      { data: { to: 0.05 }, message: expect.stringContaining('constant has other options') },
    ]);
  });
});
