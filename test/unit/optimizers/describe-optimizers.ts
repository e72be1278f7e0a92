import { beforeAll, describe, expect, it } from 'vitest';
import type { OptimizerConfig, ScheduleConfig } from '../../../core/protocol/run/config.ts';
import { type BackendKind, startBackend } from '../../../workers/backends/backend.ts';
import { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import { createDataset, gatherBatch } from '../../../workers/data/dataset.ts';
import { independentStrategy } from '../../../workers/strategies/independent.ts';
import { tf, type LayersModel } from '../../../workers/tensorflow/tf.ts';
import { Member } from '../../../workers/member/member.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import { settingsAt } from '../../../workers/optimizers/schedules.ts';
import { readGolden } from '../../golden/read-golden.ts';
import { taskOf } from '../../../workers/member/tasks.ts';
import { notRun } from '../../environment/reasons.ts';

/** PyTorch's results in float64, recorded by `make_optimizers.py`. */
interface Golden {
  batchSize: number;
  features: number[][];
  labels: number[];
  weights: (number[] | number[][])[];
  runs: { name: string; optimizer: OptimizerConfig; schedule: ScheduleConfig; rates: number[]; losses: number[] }[];
}

const golden = readGolden('optimizers/optimizers.json') as Golden;
const dataset = createDataset({
  name: 'spiral',
  featureShape: [2],
  features: Float32Array.from(golden.features.flat()),
  targets: Int32Array.from(golden.labels),
  classCount: 3,
});

function createModel(): LayersModel {
  const model = tf.sequential({
    layers: [tf.layers.dense({ units: 8, activation: 'tanh', inputShape: [2] }), tf.layers.dense({ units: 3 })],
  });
  tf.tidy(() => model.setWeights(golden.weights.map((weight) => tf.tensor(weight))));
  return model;
}

/** Trains like a worker, within this process. */
async function train(
  { optimizer, schedule, losses }: Golden['runs'][number],
  mostSteps: number,
): Promise<{ rates: number[]; losses: number[] }> {
  const task = taskOf('classification');
  const loss = (outputs: Parameters<typeof task.loss>[0], targets: Parameters<typeof task.loss>[1]) =>
    task.loss(outputs, targets);
  const member = new Member(createModel(), loss, (variables) => createOptimizer(optimizer, variables));
  const strategy = independentStrategy();
  await strategy.setup(member, ProcessGroup.alone(0), null);
  const batches = dataset.length / golden.batchSize;
  const trained = { rates: [] as number[], losses: [] as number[] };
  for (let step = 0; step < Math.min(losses.length, mostSteps); step++) {
    const start = (step % batches) * golden.batchSize;
    const batch = gatherBatch(
      dataset,
      Int32Array.from({ length: golden.batchSize }, (_, i) => start + i),
    );
    const position = { epoch: Math.floor(step / batches), step, totalSteps: losses.length };
    const settings = settingsAt(schedule, optimizer.learningRate, position);
    trained.rates.push(settings.learningRate);
    trained.losses.push((await strategy.trainStep(member, batch, settings, position))?.loss ?? NaN);
  }
  return trained;
}

/**
 * A process has one backend, so each has its own test file. Slow backends compare only the first steps.
 * @param obstacle why the backend cannot run here, or null
 */
export function describeOptimizers(backend: BackendKind, obstacle: string | null = null, mostSteps = Infinity): void {
  describe.skipIf(obstacle !== null)(
    `losses on the ${backend} backend equal those of PyTorch${notRun(obstacle)}`,
    () => {
      beforeAll(async () => void (await startBackend(backend)));

      it.each(golden.runs)('$name, $schedule.kind rate', async (run) => {
        const { rates, losses } = await train(run, mostSteps);
        expect(losses).toHaveLength(Math.min(run.losses.length, mostSteps));
        rates.forEach((rate, step) => expect(rate).toBeCloseTo(run.rates[step], 12));
        const differences = losses.map((loss, step) => Math.abs(loss - run.losses[step]));
        expect(Math.max(...differences)).toBeLessThan(1e-5);
      });
    },
  );
}
