import { expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { SharedWorkers } from '../../../src-main/runs/workers/shared-workers.ts';
import { readEvents } from '../../../src-main/store/runs/run-folder.ts';
import { killable, mergedMetrics, pidOf, startRun, train, untilStep, useHub, type WatchedRun } from '../harness.ts';

const { hub } = useHub();
const stacked = { ...killable, devices: 'cpu:0', members: 2, membersPerDevice: 2, maxEpochs: 60 };
const slow: RunConfigInput = { ...stacked, optimizer: { kind: 'adam', learningRate: 0.003 } };
const fast: RunConfigInput = {
  ...stacked,
  seed: 256,
  optimizer: { kind: 'adam', learningRate: 0.03, weightDecay: 0.01 },
};

/** Starts runs in one worker. */
async function startTogether(configs: readonly RunConfigInput[]): Promise<WatchedRun[]> {
  const workers = new SharedWorkers();
  const seats = configs.map(() => workers.seat());
  return Promise.all(
    configs.map(async (config, i) => {
      const run = await startRun(hub(), 'blobs', config, undefined, seats[i]);
      void run.ended.finally(() => seats[i].leave());
      return run;
    }),
  );
}

const endsOf = (runs: readonly WatchedRun[]) => Promise.all(runs.map(({ ended }) => ended));

/** Between the metrics of two runs, in the same rows. Infinite where one has a number and the other has none. */
async function largestDifference(one: string, other: string): Promise<number> {
  const [own, others] = await Promise.all([mergedMetrics(one), mergedMetrics(other)]);
  expect([...own.values.keys()].toSorted()).toEqual([...others.values.keys()].toSorted());
  expect([own.epoch, own.step]).toEqual([others.epoch, others.step]);
  const differences = [...own.values].flatMap(([name, values]) =>
    [...values].map((value, row) => differenceOf(value, others.values.get(name)?.[row] ?? Infinity)),
  );
  // A metric with numbers: empty cells alone would differ by 0.
  expect(own.values.get('val/ens_nll')?.some((value) => value > 0)).toBe(true);
  return Math.max(...differences);
}

function differenceOf(one: number, other: number): number {
  if (Object.is(one, other)) return 0;
  const difference = Math.abs(one - other);
  return Number.isNaN(difference) ? Infinity : difference;
}

it('runs in one worker have the results that they have apart, whatever becomes of the others', async () => {
  const alone = await train(hub(), 'blobs', slow);
  const apart = await train(hub(), 'blobs', { ...slow, membersPerDevice: 1 });
  const diverging: RunConfigInput = { ...stacked, optimizer: { kind: 'sgd', learningRate: 1e30 } };
  const other: RunConfigInput = { ...slow, hyperparameters: { hiddenUnits: 5 }, maxEpochs: 2_000 };
  const broken: RunConfigInput = { ...slow, hyperparameters: { dropout: 2 } };
  const runs = await startTogether([slow, fast, diverging, other, broken]);
  await untilStep(runs[3], 0, 20);
  expect(new Set(runs.slice(0, 4).map(({ updates }) => pidOf(updates, 0))).size).toBe(1);
  runs[3].session.abort();
  const records = await endsOf(runs);
  expect(records.map(({ status }) => status)).toEqual(['finished', 'finished', 'failed', 'interrupted', 'failed']);
  expect(records[2].error?.message).toContain('was not finite');
  expect(records[4].error?.message).toContain('dropout');
  // One run in a worker by itself has the same bits.
  expect(await mergedMetrics(runs[0].folder)).toEqual(await mergedMetrics(alone.folder));
  expect(await largestDifference(runs[0].folder, apart.folder)).toBeLessThan(1e-5);

  const [first, second] = await startTogether([slow, fast]);
  await Promise.all([untilStep(first, 1, 100), untilStep(second, 1, 100)]);
  process.kill(pidOf(first.updates, 0), 'SIGKILL');
  expect((await endsOf([first, second])).map(({ status }) => status)).toEqual(['finished', 'finished']);
  for (const [i, { folder }] of [first, second].entries()) {
    expect(await mergedMetrics(folder)).toEqual(await mergedMetrics(runs[i].folder));
    expect((await readEvents(folder)).filter(({ kind }) => kind === 'restarted')).toHaveLength(1);
  }
}, 120_000);
