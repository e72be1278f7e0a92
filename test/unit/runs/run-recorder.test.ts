import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import type { RunFacts, RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { RunRecorder } from '../../../src-main/runs/recording/run-recorder.ts';
import { readMetrics } from '../../integration/metric-table.ts';
import { createRunFolder, readEvents, readRunRecord, writeRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { RunIndex } from '../../../src-main/store/index/run-index.ts';
import { recoverRuns } from '../../../src-main/store/index/recovery.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { pointBatch, runRecord } from '../store/records.ts';

const facts: RunFacts = {
  task: 'regression',
  backend: 'cpu',
  parameterCount: 10,
  totalSteps: 9,
  ensembleMonitor: 'val/ens_nll',
  samples: { train: 6, validation: 2, test: 2 },
};
const attempt = { attempt: 1, startedAt: '2026-01-02T03:04:05.000Z', endedAt: null, status: 'running' as const };

async function createRecorder(home?: string, record: RunRecord = runRecord({ attempts: [attempt] })) {
  const index = await RunIndex.open(home ?? (await temporaryFolder()));
  onTestFinished(() => index.close());
  const folder = join(await temporaryFolder(), 'run');
  await createRunFolder(folder, record);
  const updates: RunUpdate[] = [];
  const recorder = new RunRecorder(folder, record, index, (update) => updates.push(update));
  return { recorder, folder, index, updates };
}

describe('RunRecorder', () => {
  it('writes a changed record to disk and index before it notifies', async () => {
    const { recorder, folder, index, updates } = await createRecorder();
    await recorder.change({ status: 'running' });
    expect((await readRunRecord(folder)).status).toBe('running');
    expect(index.list()).toMatchObject([{ id: 'run-1', status: 'running' }]);
    expect(updates).toMatchObject([{ type: 'record', folder, record: { status: 'running' } }]);
  });

  it.each([
    { by: 'another hub', changes: { status: 'created', hub: { host: 'there', pid: 7, socket: '/other.sock' } } },
    { by: 'a later attempt', changes: { status: 'created', attempts: [attempt, { ...attempt, attempt: 2 }] } },
    { by: 'a recovery', changes: { status: 'interrupted', hub: null } },
  ] satisfies { by: string; changes: Partial<RunRecord> }[])(
    'writes no more, and says so, once the record is of $by',
    async ({ changes }) => {
      const own = runRecord({ attempts: [attempt], hub: { host: 'here', pid: 6, socket: '/own.sock' } });
      const { recorder, folder } = await createRecorder(undefined, own);
      await recorder.change({ status: 'running' });
      await recorder.requireKept();
      const foreign: RunRecord = { ...own, ...changes };
      await writeRunRecord(folder, foreign);
      const reason = `was written by another process meanwhile: it says ${changes.status}, attempt ${foreign.attempts.length}`;
      await expect(recorder.requireKept()).rejects.toThrow(reason);
      await expect(recorder.change({ status: 'finished', hub: null })).rejects.toThrow(reason);
      expect(await readRunRecord(folder)).toEqual(foreign);
    },
  );

  it('says so where the record changed after its last write', async () => {
    const own = runRecord({ attempts: [attempt], hub: { host: 'here', pid: 6, socket: '/own.sock' } });
    const { recorder, folder } = await createRecorder(undefined, own);
    await recorder.change({ status: 'finished', hub: null });
    await recorder.requireKept();
    await writeRunRecord(folder, { ...own, status: 'created', hub: null });
    await expect(recorder.requireKept()).rejects.toThrow(
      'it says created, attempt 1 under no process, and not finished',
    );
  });

  it('replaces a record that is damaged', async () => {
    const { recorder, folder } = await createRecorder();
    await writeFile(join(folder, 'run.json'), '{"format":');
    await recorder.change({ status: 'finished' });
    expect((await readRunRecord(folder)).status).toBe('finished');
  });

  it('continues with one event when the index fails, and the next list shows the run as it is', async () => {
    const home = await temporaryFolder();
    const { recorder, folder, index } = await createRecorder(home);
    await recorder.begin(null);
    await recorder.change({ status: 'running' });
    recorder.described(facts, {});
    index.close();
    await recorder.change({ name: 'renamed' });
    recorder.points(0, pointBatch([[0, 3, 'val/ens_nll', 0.5]]));
    await recorder.close();
    await recorder.change({ status: 'finished' });
    expect((await readRunRecord(folder)).status).toBe('finished');
    expect((await readEvents(folder)).map(({ kind }) => kind)).toEqual(['index-failed']);
    const reopened = await RunIndex.open(home);
    expect(reopened.list()).toMatchObject([{ status: 'running' }]);
    expect(await recoverRuns(reopened)).toEqual({ interrupted: [], problems: [] });
    expect(reopened.list()).toMatchObject([{ status: 'finished', name: 'renamed' }]);
    reopened.close();
  });

  it('updates the best value in the index during training', async () => {
    const { recorder, index } = await createRecorder();
    await recorder.begin(null);
    await recorder.change({ status: 'running' });
    recorder.described(facts, {});
    recorder.points(0, pointBatch([[0, 3, 'val/ens_nll', 0.5]]));
    recorder.points(0, pointBatch([[1, 6, 'val/ens_nll', 0.75]]));
    await expect.poll(() => index.list()).toMatchObject([{ best: { metric: 'val/ens_nll', value: 0.5, epoch: 0 } }]);
    await recorder.change({ name: 'renamed' });
    expect(index.list()).toMatchObject([{ name: 'renamed', best: { value: 0.5 } }]);
    await recorder.close();
  });

  it('takes the largest value as the best of a metric to maximize, and never NaN', async () => {
    const { recorder, index } = await createRecorder();
    await recorder.begin(null);
    await recorder.change({ status: 'running' });
    recorder.described({ ...facts, ensembleMonitor: 'val/ens_acc' }, {});
    const values = [NaN, 0.5, 0.75, NaN, 0.6];
    recorder.points(0, pointBatch(values.map((value, epoch) => [epoch, epoch, 'val/ens_acc', value])));
    await expect.poll(() => index.list()).toMatchObject([{ best: { value: 0.75, epoch: 2 } }]);
    await recorder.close();
  });

  it('writes points, and keeps the last value of each metric and the best of the monitored one', async () => {
    const { recorder, folder } = await createRecorder();
    await recorder.begin(null);
    recorder.described(facts, { tfjs: '4' });
    recorder.points(0, pointBatch([[0, 3, 'val/ens_nll', 0.5]]));
    recorder.points(0, pointBatch([[1, 6, 'val/ens_nll', NaN]]));
    recorder.points(
      0,
      pointBatch([
        [2, 9, 'val/ens_nll', 0.25],
        [3, 12, 'val/ens_nll', 0.75],
        [3, 12, 'train/loss', 1],
      ]),
    );
    recorder.reached(3, 12);
    await recorder.close();
    expect(recorder.summary('completed')).toEqual({
      attempt: 1,
      epochs: 4,
      steps: 12,
      stopReason: 'completed',
      metrics: { 'train/loss': 1, 'val/ens_nll': 0.75 },
      best: { metric: 'val/ens_nll', value: 0.25, epoch: 2, step: 9 },
      evaluatedSets: [],
    });
    const { values } = await readMetrics(folder);
    expect([...(values.get('val/ens_nll') ?? [])]).toEqual([0.5, NaN, 0.25, 0.75]);
  });

  it('flushes points to disk on request, during a run', async () => {
    const { recorder, folder } = await createRecorder();
    await recorder.begin(null);
    recorder.points(0, pointBatch([[0, 3, 'val/ens_nll', 0.5]]));
    await recorder.metrics.keep();
    expect((await readMetrics(folder)).values.get('val/ens_nll')).toEqual(Float64Array.of(0.5));
    await recorder.close();
  });

  it('continues from the best of earlier attempts, without the rows that a resume drops', async () => {
    const { recorder, folder, index } = await createRecorder();
    await recorder.begin(null);
    recorder.points(
      0,
      pointBatch([
        [0, 3, 'val/ens_nll', 0.5],
        [1, 6, 'val/ens_nll', 0.6],
        [2, 9, 'val/ens_nll', 0.1],
      ]),
    );
    await recorder.close();
    const record = { ...recorder.record, attempts: [attempt, { ...attempt, attempt: 2 }] };
    await writeRunRecord(folder, record);
    const resumed = new RunRecorder(folder, record, index, () => {});
    await resumed.begin({ at: { epoch: 0, step: 6 }, rows: null });
    resumed.described(facts, {});
    const { best, metrics } = resumed.summary('completed');
    expect(best).toEqual({ metric: 'val/ens_nll', value: 0.5, epoch: 0, step: 3 });
    // Values that this attempt does not report again stay as the earlier one left them.
    expect(metrics).toEqual({ 'val/ens_nll': 0.6 });
    await resumed.close();
  });

  it('writes events in order, with attempt and position', async () => {
    const { recorder, folder } = await createRecorder();
    recorder.event(null, 'started', 'Attempt 1 started.');
    const checkpoint = { format: 1, epoch: 2, step: 9, sha256: '', bytes: 8, savedAt: '' } as const;
    recorder.checkpoint({ ...checkpoint, rank: 1, name: 'ensemble-best', monitor: 'val/ens_nll', score: 0.25 });
    recorder.checkpoint({ ...checkpoint, rank: 0, name: 'final', monitor: null, score: null });
    await recorder.flush();
    expect(await readEvents(folder)).toMatchObject([
      { attempt: 1, rank: null, kind: 'started', epoch: null },
      {
        rank: 1,
        kind: 'checkpoint',
        epoch: 2,
        step: 9,
        message: 'Kept checkpoint "ensemble-best" at val/ens_nll = 0.25.',
      },
      { rank: 0, message: 'Kept checkpoint "final".', data: { name: 'final' } },
    ]);
  });

  it('replaces an evaluated set by a newer one with the same name', async () => {
    const { recorder } = await createRecorder();
    const set = { set: 'final', split: 'test', epochs: [1], ensemble: { nll: 1 }, members: { nll: [1] } } as const;
    const changed = { ...set, ranks: [0], epochs: [...set.epochs], members: { nll: [2] }, ensemble: { nll: 2 } };
    recorder.evaluated({ ...changed, ensemble: { nll: 1 } });
    recorder.evaluated(changed);
    expect(recorder.summary('completed').evaluatedSets).toEqual([changed]);
  });

  it('throws the first failed write once, on flush', async () => {
    const { recorder, folder } = await createRecorder();
    await rm(folder, { recursive: true });
    recorder.event(null, 'started', 'Attempt 1 started.');
    await expect(recorder.flush()).rejects.toThrow(/events\.jsonl/);
    await recorder.flush();
  });
});
