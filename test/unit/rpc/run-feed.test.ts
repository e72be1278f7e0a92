import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { FollowedRun } from '../../../src-main/hub/followed-run.ts';
import { RunFeed } from '../../../src-main/hub/run-feed.ts';
import { MetricsLog } from '../../../src-main/store/metrics/metrics-log.ts';
import { createRunFolder, runPaths, writeRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { attempt } from '../renderer/run-fixtures.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { pointBatch, runRecord } from '../store/records.ts';

type Points = [epoch: number, step: number, metric: string, value: number][];

/** A run that this process trains, opened by a page, and the file that its recorder writes. */
async function openLive(before: Points = []) {
  const folder = await temporaryFolder();
  await createRunFolder(folder, runRecord({ status: 'running' }));
  const open = () => MetricsLog.open(folder, { ranks: [0], onError: (error) => expect.fail(String(error)) });
  const log = await open();
  log.append(0, pointBatch(before));
  await log.flush();
  const run = await FollowedRun.open(folder);
  const report = (points: Points): void => {
    log.append(0, pointBatch(points));
    run.take(pointBatch(points));
  };
  return { folder, log, run, report };
}

function held({ columns }: FollowedRun, name: string): { step: number[]; value: number[]; total: number } {
  const column = columns.get(name);
  if (column === undefined) return { step: [], value: [], total: 0 };
  const { step, value, length, total } = column;
  return { step: [...step.subarray(0, length)], value: [...value.subarray(0, length)], total };
}

describe('points that the recorder tells', () => {
  it('follow those of the file before they are in it, NaN too, and come once', async () => {
    const { run, report, log } = await openLive([[0, 1, 'a', 0.5]]);
    report([
      [0, 2, 'a', NaN],
      [0, 2, 'b', -0],
    ]);
    expect(held(run, 'a')).toEqual({ step: [1, 2], value: [0.5, NaN], total: 2 });
    expect(held(run, 'b')).toEqual({ step: [2], value: [-0], total: 1 });
    await log.close();
    const updates = await run.refresh();
    expect(updates.filter(({ type }) => type === 'points')).toEqual([]);
    expect(held(run, 'a')).toEqual({ step: [1, 2], value: [0.5, NaN], total: 2 });
  });

  it('that were also read from the file are left out', async () => {
    const { run } = await openLive([
      [0, 1, 'a', 1],
      [0, 2, 'a', 2],
    ]);
    run.take(
      pointBatch([
        [0, 2, 'a', 99],
        [0, 3, 'a', 3],
      ]),
    );
    expect(held(run, 'a')).toEqual({ step: [1, 2, 3], value: [1, 2, 3], total: 3 });
  });

  it('are counted once even where the column keeps only extremes, and each can be read by its step', async () => {
    const { run, report, log } = await openLive();
    const count = 70_000;
    report(Array.from({ length: count }, (_, step) => [0, step, 'a', step === 12_345 ? 1e9 : 1]));
    await log.close();
    expect(run.bytesBetween(0, count)).toBe(0);
    await run.locateRows();
    const between = (await run.readBetween(['a'], 40_000, 40_002)).get('a');
    expect([between?.length, between?.step[0], between?.step[2]]).toEqual([3, 40_000, 40_002]);
    expect(held(run, 'a').total).toBe(count);
    await run.refresh();
    expect(held(run, 'a').total).toBe(count);
    expect(Math.max(...held(run, 'a').value)).toBe(1e9);
  });

  it('are read again if somebody replaced the file meanwhile', async () => {
    const { run, report, log, folder } = await openLive([[0, 1, 'a', 1]]);
    report([[0, 2, 'a', 2]]);
    await log.close();
    await writeFile(join(folder, 'edited.csv'), 'epoch,step,a\n0,7,0.25\n');
    await rename(join(folder, 'edited.csv'), runPaths(folder).metrics);
    await run.refresh();
    expect(held(run, 'a')).toEqual({ step: [7], value: [0.25], total: 1 });
  });

  it('end with an attempt, after which another process may write the rows', async () => {
    const { run, report, log, folder } = await openLive([[0, 1, 'a', 1]]);
    report([[0, 2, 'a', 2]]);
    await log.close();
    await run.refresh();
    const other = await MetricsLog.open(folder, { ranks: [0], onError: (error) => expect.fail(String(error)) });
    other.append(0, pointBatch([[0, 3, 'a', 3]]));
    await other.close();
    const [points] = (await run.refresh()).filter((update) => update.type === 'points');
    expect(points.batch).toMatchObject({ names: ['a'], step: Int32Array.of(3), value: Float64Array.of(3) });
    expect(held(run, 'a').step).toEqual([1, 2, 3]);
  });
});

it('an attempt has begun once its ranks have a place to continue from', async () => {
  const { run } = await openLive();
  const { record } = run;
  const withAttempt = (from?: { epoch: number; step: number }) => ({
    ...record,
    attempts: [...record.attempts, { ...attempt(1), config: record.config, ...(from === undefined ? {} : { from }) }],
  });
  expect(run.isBeforeAttempt(record)).toBe(false);
  expect(run.isBeforeAttempt(withAttempt())).toBe(false);
  expect(run.isBeforeAttempt(withAttempt({ epoch: 0, step: 0 }))).toBe(true);
});

/** A feed with one run, which this process trains until `ended` is called; `tell` is its recorder. */
async function openFeed(before: Points) {
  const folder = await temporaryFolder();
  const record = runRecord({ id: 'r', status: 'running' });
  await createRunFolder(folder, record);
  const rows = async (points: Points): Promise<void> => {
    const log = await MetricsLog.open(folder, { ranks: [0], onError: (error) => expect.fail(String(error)) });
    log.append(0, pointBatch(points));
    await log.close();
  };
  await rows(before);
  let isLive = true;
  let listener: (id: string, update: RunUpdate) => void = () => undefined;
  const written = vi.fn<() => Promise<void>>(() => Promise.resolve());
  const live = {
    get: () => (isLive ? { session: { written } } : undefined),
    subscribe(one: typeof listener) {
      listener = one;
      return () => undefined;
    },
  };
  const errors: unknown[] = [];
  const feed = new RunFeed({ find: () => Promise.resolve({ folder }) }, live, (error) => errors.push(error));
  onTestFinished(() => feed.close());
  const tell = (update: RunUpdate): void => listener('r', update);
  const points = (told: Points): RunUpdate => ({ type: 'points', rank: 0, batch: pointBatch(told) });
  return { folder, record, rows, written, feed, errors, tell, points, ended: () => (isLive = false) };
}

describe('the feed of a run that this process trains', () => {
  it('hands the batches on as they are, and reads no rows again', async () => {
    const { folder, feed, tell, points, errors } = await openFeed([[0, 1, 'a', 0.5]]);
    const sent: RunUpdate[] = [];
    await feed.watch('r', (updates) => sent.push(...updates));
    // Whoever reads these rows gets other points, and a warning.
    await writeFile(runPaths(folder).metrics, 'epoch,step,a\n0,1,0.5\n0,2,7\nno row\n');
    const update = points([[0, 2, 'a', NaN]]);
    tell(update);
    await expect.poll(() => sent).toEqual([update]);
    expect(sent[0]).toBe(update);
    const run = await feed.open('r');
    expect(held(run, 'a')).toEqual({ step: [1, 2], value: [0.5, NaN], total: 2 });
    expect(run.warnings).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('loses no point that is told while the folder is read, and has none twice', async () => {
    const { feed, tell, points, rows, written } = await openFeed([[0, 1, 'a', 1]]);
    written.mockImplementationOnce(async () => {
      tell(points([[0, 2, 'a', 2]]));
      await rows([[0, 2, 'a', 2]]);
      tell(points([[0, 3, 'a', 3]]));
    });
    expect(held(await feed.open('r'), 'a')).toEqual({ step: [1, 2, 3], value: [1, 2, 3], total: 3 });
  });

  it('goes on without watchers, and knows what was told meanwhile', async () => {
    const { feed, tell, points, ended } = await openFeed([[0, 1, 'a', 1]]);
    const leave = await feed.watch('r', () => undefined);
    leave();
    tell(points([[0, 2, 'a', 2]]));
    expect(held(await feed.open('r'), 'a').step).toEqual([1, 2]);
    tell(points([[0, 3, 'a', 3]]));
    ended();
    expect(held(await feed.open('r'), 'a').step).toEqual([1, 2, 3]);
  });

  it('reads the folder again when an attempt begins, which drops rows', async () => {
    const { folder, feed, tell, points, record } = await openFeed([
      [0, 1, 'a', 1],
      [0, 2, 'a', 2],
    ]);
    expect(held(await feed.open('r'), 'a').step).toEqual([1, 2]);
    tell(points([[0, 3, 'a', 3]]));
    await writeFile(join(folder, 'kept.csv'), 'epoch,step,a\n0,1,1\n');
    await rename(join(folder, 'kept.csv'), runPaths(folder).metrics);
    const resumed = { ...record, attempts: [{ ...attempt(1), from: { epoch: 0, step: 1 } }] };
    await writeRunRecord(folder, resumed);
    tell({ type: 'record', record: resumed, folder });
    tell(points([[0, 2, 'a', 0.25]]));
    expect(held(await feed.open('r'), 'a')).toEqual({ step: [1, 2], value: [1, 0.25], total: 2 });
  });

  it('sends what another process writes once the run has ended here', async () => {
    const { feed, tell, points, rows, ended } = await openFeed([[0, 1, 'a', 1]]);
    const sent: RunUpdate[] = [];
    await feed.watch('r', (updates) => sent.push(...updates));
    tell(points([[0, 2, 'a', 2]]));
    await rows([[0, 2, 'a', 2]]);
    ended();
    await feed.open('r');
    expect(sent).toHaveLength(1);
    await rows([[0, 3, 'a', 3]]);
    await expect.poll(() => sent).toHaveLength(2);
    expect(sent[1]).toMatchObject({ type: 'points', batch: { names: ['a'], step: Int32Array.of(3) } });
    expect(held(await feed.open('r'), 'a').step).toEqual([1, 2, 3]);
  });
});
