import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import {
  metricColumns,
  metricValues,
  readCheckpointRecord,
  resume,
  startRun,
  train,
  useHub,
  type WatchedRun,
} from '../harness.ts';

const { hub } = useHub();

const endless: RunConfigInput = { members: 2, devices: 2, maxEpochs: 100_000, logEverySteps: 1 };
const hasTrained = (run: WatchedRun) => run.until((update) => update.type === 'progress' && update.step > 5);
const isEvent = (kind: string, rank: number | null) => (update: WatchedRun['updates'][number]) =>
  update.type === 'event' && update.event.kind === kind && update.event.rank === rank;

/** Steps and learning rates that a rank reported. */
function ratesOf(folder: string, rank: number): { step: number; rate: number }[] {
  const columns = metricColumns(folder);
  const steps = columns.get('step') ?? [];
  return (columns.get(`train/member_${rank}_lr`) ?? []).flatMap((cell, row) =>
    cell === '' ? [] : [{ step: Number(steps[row]), rate: Number(cell) }],
  );
}

describe('a learning rate changed during training', () => {
  it('is refused where it has no meaning, applies right after the step that each rank named, is recorded, and is overridden by a resume', async () => {
    const run = await startRun(hub(), 'blobs', endless);
    await hasTrained(run);
    const set = (changes: object) => () => run.session.control({ action: 'set', changes });
    expect(set({ patience: 3 })).toThrow('earlyStopping.patience cannot be changed. Early stopping is off in this run');
    expect(set({ learningRate: 0.001 })).toThrow('Nothing would change: optimizer.learningRate is 0.001');
    expect((await readRunRecord(run.folder)).changed).toBeUndefined();
    run.session.control({ action: 'set', changes: { learningRate: 0.0005 } });
    for (const rank of [0, 1]) await run.until(isEvent('changed', rank));
    run.session.control({ action: 'stop-at-epoch-end' });
    const ended = await run.ended;
    expect(ended).toMatchObject({ status: 'stopped', changed: { learningRate: 0.0005 } });
    const changes = (await readEvents(run.folder)).filter(({ kind }) => kind === 'changed');
    expect(changes.map(({ data }) => data)).toEqual(
      [0, 1].map(() => ({ path: 'optimizer.learningRate', from: 0.001, to: 0.0005 })),
    );
    for (const { rank, step: at } of changes) {
      const rates = ratesOf(run.folder, rank ?? -1);
      expect(rates.length).toBeGreaterThan(5);
      for (const { step, rate } of rates) expect(rate, `step ${step}`).toBe(step > (at ?? NaN) ? 0.0005 : 0.001);
    }

    const [steps, maxEpochs] = [ended.summary?.steps ?? NaN, (ended.summary?.epochs ?? NaN) + 1];
    const record = await resume(hub(), run.folder, { maxEpochs, optimizer: { kind: 'adam', learningRate: 0.5 } });
    expect(record).toMatchObject({ status: 'finished', changed: {} });
    expect(ratesOf(run.folder, 1).filter(({ step }) => step > steps)).toEqual(
      [1, 2, 3].map((further) => ({ step: steps + further, rate: 0.5 })),
    );
    const last = (await readEvents(run.folder)).findLast(({ kind, rank }) => kind === 'changed' && rank === 1);
    expect(last).toMatchObject({ attempt: 2, step: steps, data: { from: 0.0005, to: 0.5 } });
  });

  it('survives an abort and a resume: the results equal those of an uninterrupted run with that rate, bit for bit', async () => {
    const config: RunConfigInput = { ...endless, maxEpochs: 40, checkpoints: { stateEverySeconds: 0 } };
    const broken = await startRun(hub(), 'blobs', config);
    await broken.until((update) => update.type === 'record' && update.record.status === 'running');
    // Before any rank has begun. It applies from the first step, so a run configured with that rate must give the same
    // results.
    broken.session.control({ action: 'set', changes: { learningRate: 0.02 } });
    await broken.until((update) => update.type === 'checkpoint');
    broken.session.abort();
    expect((await broken.ended).status).toBe('interrupted');
    expect(await resume(hub(), broken.folder)).toMatchObject({ status: 'finished', changed: { learningRate: 0.02 } });

    const whole = await train(hub(), 'blobs', { ...config, optimizer: { kind: 'adam', learningRate: 0.02 } });
    for (const rank of [0, 1]) {
      const hashOf = (folder: string) => readCheckpointRecord(folder, rank, 'final').sha256;
      expect(hashOf(broken.folder)).toBe(hashOf(whole.folder));
      expect(ratesOf(broken.folder, rank)).toEqual(ratesOf(whole.folder, rank));
    }
  });
});

it('a changed patience ends the run after that many evaluations', async () => {
  const run = await startRun(hub(), 'blobs', {
    ...endless,
    earlyStopping: { enabled: true, patience: 50_000 },
    optimizer: { kind: 'adam', learningRate: 0.05 },
  });
  await hasTrained(run);
  run.session.control({ action: 'set', changes: { patience: 4 } });
  expect(await run.ended).toMatchObject({ status: 'finished', summary: { stopReason: 'early-stopping' } });
  const nll = metricValues(run.folder, 'val/ens_nll').map(Number);
  const best = nll.indexOf(Math.min(...nll));
  expect(nll.length - 1 - best).toBeGreaterThanOrEqual(4);
});

describe('a single stopped rank', () => {
  it('keeps its weights and stands by, and the others continue', async () => {
    const run = await startRun(hub(), 'blobs', { ...endless, members: 3, devices: 2 });
    await hasTrained(run);
    run.session.control({ action: 'stop-rank', rank: 1 });
    const stop = await run.until(isEvent('rank-stopped', 1));
    const at = stop.type === 'event' ? (stop.event.step ?? NaN) : NaN;
    // The third may be up to one epoch behind, which has three steps.
    await run.until((update) => update.type === 'points' && update.rank === 0 && update.batch.step[0] > at + 40);
    expect(() => run.session.control({ action: 'stop-rank', rank: 1 })).toThrow(
      'Rank 1 cannot be stopped: it is stopped',
    );
    expect(() => run.session.control({ action: 'stop-rank', rank: 3 })).toThrow('There is no rank 3');
    run.session.control({ action: 'stop-rank', rank: 0 });
    expect(() => run.session.control({ action: 'stop-rank', rank: 2 })).toThrow(
      'Rank 2 is the last that trains. Stop the run instead.',
    );
    run.session.control({ action: 'stop' });
    expect(await run.ended).toMatchObject({ status: 'stopped', error: null });
    const [kept, final] = [`stopped-${at}`, 'final'].map((name) => readCheckpointRecord(run.folder, 1, name));
    expect(final).toMatchObject({ step: at, sha256: kept.sha256 });
    expect(readCheckpointRecord(run.folder, 2, 'final').step).toBeGreaterThan(at + 30);
    const own = metricValues(run.folder, 'val/member_1_nll');
    expect(new Set(own.slice(-3)).size).toBe(1);
    expect(ratesOf(run.folder, 1).at(-1)?.step).toBe(at);
  });
});

it('a stopped rank waits for the others longer than the limit of a collective', async () => {
  const run = await startRun(hub(), 'blobs', {
    ...endless,
    batchSize: 1,
    maxEpochs: 1,
    timeouts: { collectiveMs: 3000, firstCollectiveMs: 20_000 },
    hyperparameters: { samples: 50_000 },
  });
  await hasTrained(run);
  run.session.control({ action: 'stop-rank', rank: 0 });
  await run.until(isEvent('rank-stopped', 0));
  const heard = run.updates.length;
  // A rank reports its progress at most twice a second.
  const isOfOther = (update: WatchedRun['updates'][number]) => update.type === 'progress' && update.rank === 1;
  await run.until(() => run.updates.slice(heard).filter(isOfOther).length >= 8);
  run.session.control({ action: 'stop' });
  expect(await run.ended).toMatchObject({ status: 'stopped', error: null });
});

it('a stop at the end of the epoch ends all ranks there', async () => {
  const run = await startRun(hub(), 'blobs', {
    members: 2,
    devices: 2,
    batchSize: 1,
    maxEpochs: 50,
    hyperparameters: { samples: 1000 },
  });
  await hasTrained(run);
  run.session.control({ action: 'stop-at-epoch-end' });
  const record = await run.ended;
  expect(record).toMatchObject({ status: 'stopped', summary: { stopReason: 'requested' } });
  // 600 samples to train on, one per step.
  for (const rank of [0, 1]) expect(readCheckpointRecord(run.folder, rank, 'final').step % 600).toBe(0);
  expect(record.summary?.epochs).toBeLessThan(50);
});
