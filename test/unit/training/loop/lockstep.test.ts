import { beforeAll, describe, expect, it } from 'vitest';
import type { Control } from '../../../../core/protocol/run/messages.ts';
import { type RunConfigInput, runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import type { ProcessGroup } from '../../../../workers/collectives/process-group.ts';
import { ownBatches } from '../../../../workers/data/batches.ts';
import { createDataset } from '../../../../workers/data/dataset.ts';
import { createSampler } from '../../../../workers/data/samplers.ts';
import type { Strategy } from '../../../../workers/strategies/strategy.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { Controls } from '../../../../workers/training/controls.ts';
import { Member } from '../../../../workers/member/member.ts';
import { createOptimizer } from '../../../../workers/optimizers/optimizers.ts';
import { RunFiles } from '../../../../workers/member/run-files.ts';
import { taskOf } from '../../../../workers/member/tasks.ts';
import { NonFiniteLossError } from '../../../../workers/training/rendezvous.ts';
import { Trainer } from '../../../../workers/training/trainer.ts';
import { createInMemoryGroup } from '../../relay/in-memory-group.ts';
import { KeptReport, temporaryFolder } from './fakes.ts';

beforeAll(async () => void (await startBackend('cpu')));

const values = Float32Array.of(0, 1, 2, 3);
const line = createDataset({ name: 'line', featureShape: [1], features: values, targets: values });
const task = taskOf('regression');
const stepsPerEpoch = line.length;

interface Rank {
  trainer: Trainer;
  controls: Controls;
  report: KeptReport;
}

/** Runs on a rank in a step (counted from 0) before its exchange, and returns the loss. */
type LossAtStep = (rank: number, step: number) => number;

/** Exchanges a number at every step and awaits the answer `lag` steps later, like a pipelined strategy. */
function exchanging(lossAt: LossAtStep, lag: number): Strategy {
  const answers: Promise<unknown>[] = [];
  let group: ProcessGroup;
  return {
    name: 'exchanging',
    isLockstep: true,
    async setup(_, own) {
      group = own;
    },
    async trainStep(_member, _batch, _learningRate, { step }) {
      const loss = lossAt(group.rank, step);
      answers.push(group.allReduce(Float32Array.of(loss), 'sum'));
      if (answers.length > lag) await answers.shift();
      return { loss, updated: Number.isFinite(loss) };
    },
    async settle() {
      await Promise.all(answers.splice(0));
      return null;
    },
  };
}

async function createRanks(lossAt: LossAtStep, lag: number, overrides: RunConfigInput = {}): Promise<Rank[]> {
  const folder = await temporaryFolder();
  const config = runConfigSchema.parse({ batchSize: 1, maxEpochs: 3, members: 3, ...overrides });
  const { groups } = createInMemoryGroup([0, 1, 2]);
  return groups.map((group) => {
    const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [1] })] });
    const controls = new Controls();
    const report = new KeptReport();
    const trainer = new Trainer({
      config,
      member: new Member(
        model,
        (outputs, targets) => task.loss(outputs, targets),
        (variables) => createOptimizer(config.optimizer, variables),
      ),
      task,
      data: { train: line },
      batches: ownBatches(line),
      sampler: createSampler({
        kind: 'sequential',
        length: line.length,
        batchSize: 1,
        dropLast: false,
        seed: 1,
        sharedSeed: 1,
        rank: group.rank,
        worldSize: 3,
      }),
      strategy: exchanging(lossAt, lag),
      callbacks: [],
      group,
      files: new RunFiles(folder, group.rank),
      report,
      controls,
    });
    return { trainer, controls, report };
  });
}

/** Sends controls to every rank: to `first` immediately and to the others in a later turn, like a busy hub. */
function send(ranks: readonly Rank[], first: number, ...controls: Control[]): void {
  for (const [rank, { controls: own }] of ranks.entries()) {
    if (rank === first) for (const control of controls) own.take(control);
    else setImmediate(() => controls.forEach((control) => own.take(control)));
  }
}

describe.each([
  { exchange: 'awaited in its step', lag: 0 },
  { exchange: 'awaited in the next step', lag: 1 },
])('ranks in lockstep, with an exchange $exchange', ({ lag }) => {
  it.each([0, 1, 2])('stop at the same step when rank %i receives the request first', async (first) => {
    const ranks = await createRanks((rank, step) => {
      if (rank === first && step === 5) send(ranks, first, { action: 'stop' });
      return 1;
    }, lag);
    const reasons = await Promise.all(ranks.map(({ trainer }) => trainer.fit()));
    expect(reasons).toEqual(['requested', 'requested', 'requested']);
    const steps = ranks.map(({ trainer }) => trainer.training.step);
    expect(new Set(steps).size).toBe(1);
    expect(steps[0]).toBeGreaterThanOrEqual(6);
    expect(steps[0]).toBeLessThanOrEqual(8);
  });

  it.each([0, 2])(
    'change the learning rate at the same step when rank %i receives the request first',
    async (first) => {
      const ranks = await createRanks((rank, step) => {
        if (rank === first && step === 5) send(ranks, first, { action: 'set', changes: { learningRate: 0.5 } });
        return 1;
      }, lag);
      await Promise.all(ranks.map(({ trainer }) => trainer.fit()));
      const steps = ranks.map(({ report }) => report.events.map(({ kind, step }) => ({ kind, step })));
      expect(steps[0]).toMatchObject([{ kind: 'changed' }]);
      for (const others of steps) expect(others).toEqual(steps[0]);
    },
  );

  it('end with the same epoch when one rank receives the request in its last step', async () => {
    const ranks = await createRanks((rank, step) => {
      if (rank === 1 && step === stepsPerEpoch - 1) send(ranks, 1, { action: 'stop-at-epoch-end' });
      return 1;
    }, lag);
    const reasons = await Promise.all(ranks.map(({ trainer }) => trainer.fit()));
    expect(reasons).toEqual(['requested', 'requested', 'requested']);
    expect(ranks.map(({ trainer }) => trainer.training.step)).toEqual([stepsPerEpoch, stepsPerEpoch, stepsPerEpoch]);
  });

  it('save a requested checkpoint after the same step', async () => {
    const ranks = await createRanks((rank, step) => {
      if (rank === 1 && step === 2) send(ranks, 1, { action: 'checkpoint', name: 'asked' });
      return 1;
    }, lag);
    await Promise.all(ranks.map(({ trainer }) => trainer.fit()));
    const kept = ranks.map(({ report }) => report.checkpoints.filter(({ name }) => name === 'asked'));
    expect(kept.map((checkpoints) => checkpoints.length)).toEqual([1, 1, 1]);
    expect(new Set(kept.map(([{ step }]) => step)).size).toBe(1);
  });

  it('pause together, save checkpoints requested meanwhile, and resume until the end', async () => {
    const ranks = await createRanks((rank, step) => {
      if (rank === 2 && step === 1) send(ranks, 2, { action: 'pause' });
      return 1;
    }, lag);
    const ends = Promise.all(ranks.map(({ trainer }) => trainer.fit()));
    await expect.poll(() => ranks.map(({ report }) => report.states.at(-1))).toEqual(['paused', 'paused', 'paused']);
    const steps = ranks.map(({ trainer }) => trainer.training.step);
    expect(new Set(steps).size).toBe(1);
    send(ranks, 0, { action: 'checkpoint', name: 'asked' }, { action: 'resume' });
    expect(await ends).toEqual(['completed', 'completed', 'completed']);
    for (const { trainer, report } of ranks) {
      expect(report.checkpoints).toMatchObject([{ name: 'asked', step: steps[0] }]);
      expect(trainer.training.step).toBe(3 * stepsPerEpoch);
    }
  });

  it('all end with the error of the rank whose loss was not finite', async () => {
    const ranks = await createRanks((rank, step) => (rank === 1 && step >= 4 ? NaN : 1), lag, {
      evaluateEveryEpochs: 3,
    });
    const errors = await Promise.all(ranks.map(({ trainer }) => trainer.fit().catch((error: unknown) => error)));
    for (const error of errors) {
      expect(error).toBeInstanceOf(NonFiniteLossError);
      expect((error as NonFiniteLossError).at).toEqual({ rank: 1, epoch: 1, step: 5 });
    }
    const steps = ranks.map(({ trainer }) => trainer.training.step);
    expect(new Set(steps).size).toBe(1);
    expect(steps[0]).toBeLessThanOrEqual(7);
  });
});

describe('a single rank in lockstep', () => {
  it('stops on a request before its first step', async () => {
    const [rank] = await createRanks(() => 1, 0);
    rank.controls.take({ action: 'stop' });
    expect(rank.controls).toMatchObject({ stopRequested: false, stopReceived: true, received: 1 });
    await rank.controls.admit(1);
    expect(rank.controls).toMatchObject({ stopRequested: true });
  });
});
