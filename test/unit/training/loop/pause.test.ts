import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { ProcessGroup } from '../../../../workers/collectives/process-group.ts';
import { ownBatches } from '../../../../workers/data/batches.ts';
import { createDataset } from '../../../../workers/data/dataset.ts';
import { independentStrategy } from '../../../../workers/strategies/independent.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { Controls } from '../../../../workers/training/controls.ts';
import { Member } from '../../../../workers/member/member.ts';
import { createOptimizer } from '../../../../workers/optimizers/optimizers.ts';
import { RunFiles } from '../../../../workers/member/run-files.ts';
import { taskOf } from '../../../../workers/member/tasks.ts';
import { Trainer } from '../../../../workers/training/trainer.ts';
import { KeptReport, temporaryFolder, pairsInOrder } from './fakes.ts';

beforeAll(async () => void (await startBackend('cpu')));

const x = Float32Array.of(-1, 0, 1, 2, 3, 4);
const line = createDataset({ name: 'line', featureShape: [1], features: x, targets: x.map((value) => 3 * value) });
const task = taskOf('regression');

/**
 * A single rank that learns y = 3x in two epochs of three steps. It is paused during the step `pauseAt`, counted from
 * 0.
 */
async function createFixture(pauseAt: number | null) {
  const config = runConfigSchema.parse({ batchSize: 2, maxEpochs: 2, members: 1, logEverySteps: 1 });
  const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [1], kernelInitializer: 'zeros' })] });
  const controls = new Controls();
  const report = new KeptReport();
  const trainer = new Trainer({
    config,
    member: new Member(
      model,
      (outputs, targets, { step }) => {
        if (step === pauseAt) controls.take({ action: 'pause' });
        return task.loss(outputs, targets);
      },
      (variables) => createOptimizer(config.optimizer, variables),
    ),
    task,
    data: { train: line, validation: line },
    batches: ownBatches(line),
    sampler: pairsInOrder(line.length),
    strategy: independentStrategy(),
    callbacks: [],
    group: ProcessGroup.alone(0),
    files: new RunFiles(await temporaryFolder(), 0),
    report,
    controls,
  });
  return { trainer, controls, report };
}

/** Takes far more turns of the event loop than the remaining steps need, once the rank is paused. */
async function turnsOnceIn(report: KeptReport): Promise<void> {
  await expect.poll(() => report.states.at(-1)).toBe('paused');
  for (let turn = 0; turn < 100; turn++) await setImmediate();
}

const weightsOf = ({ training }: Trainer): number[] =>
  training.model.getWeights().map((weight) => weight.dataSync()[0]);

describe('a paused rank', () => {
  it('does no step until it is resumed, and ends like a rank that was never paused', async () => {
    const { trainer, controls, report } = await createFixture(1);
    const end = trainer.fit();
    await turnsOnceIn(report);
    expect(trainer.training.step).toBe(2);
    expect(report.states.at(-1)).toBe('paused');
    controls.take({ action: 'resume' });
    expect(await end).toBe('completed');
    expect(trainer.training.step).toBe(6);

    const unpaused = await createFixture(null);
    await unpaused.trainer.fit();
    expect(weightsOf(trainer)).toEqual(weightsOf(unpaused.trainer));
    expect(report.points.filter(({ name }) => name.endsWith('loss'))).toEqual(
      unpaused.report.points.filter(({ name }) => name.endsWith('loss')),
    );
  });

  it('saves a requested checkpoint and stays paused', async () => {
    const { trainer, controls, report } = await createFixture(1);
    const end = trainer.fit();
    await turnsOnceIn(report);
    controls.take({ action: 'checkpoint', name: 'asked' });
    await expect.poll(() => report.checkpoints).toMatchObject([{ name: 'asked', step: 2 }]);
    expect(report.states.at(-1)).toBe('paused');
    controls.take({ action: 'resume' });
    await end;
  });

  it('stops on request without another step', async () => {
    const { trainer, controls, report } = await createFixture(1);
    const end = trainer.fit();
    await turnsOnceIn(report);
    controls.take({ action: 'stop' });
    expect(await end).toBe('requested');
    expect(trainer.training.step).toBe(2);
  });
});
