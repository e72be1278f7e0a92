import { hostname } from 'node:os';
import { chmod, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { markInterrupted, recoverRuns, takeOverRun } from '../../../../src-main/store/index/recovery.ts';
import { createRunFolder, readEvents, readRunRecord } from '../../../../src-main/store/runs/run-folder.ts';
import { RunIndex } from '../../../../src-main/store/index/run-index.ts';
import { tryHubLock } from '../../../../src-main/store/runs/hub-lock.ts';
import { DEAD_PID, temporaryFolder } from '../fixtures.ts';
import { runRecord } from '../records.ts';
import { noPermissions, notRun } from '../../../environment/reasons.ts';

const deadHub = { host: hostname(), pid: DEAD_PID, socket: '/nowhere/hub.sock' };
/** Holds the lock of a run's hub until the test ends. */
function holdLock(folder: string): void {
  const lock = tryHubLock(folder);
  expect(lock).not.toBeNull();
  onTestFinished(() => lock?.release());
}

const livingHub = { host: hostname(), pid: process.pid, socket: '/somewhere/hub.sock' };

const openAttempt = {
  attempt: 2,
  startedAt: '2026-01-02T03:04:05.000Z',
  endedAt: null,
  status: 'running' as const,
};

describe('markInterrupted', () => {
  it('closes the run and its open attempt at the last sign of life', async () => {
    const folder = await temporaryFolder();
    const ended = { ...openAttempt, attempt: 1, endedAt: '2026-01-01T00:00:00Z', status: 'stopped' as const };
    await createRunFolder(folder, runRecord({ status: 'running', hub: deadHub, attempts: [ended, openAttempt] }));
    await writeFile(join(folder, 'metrics.csv'), 'epoch,step\n');
    const before = new Date('2026-01-02T03:00:00Z');
    const lastWrite = new Date('2026-01-02T04:00:00Z');
    await utimes(join(folder, 'run.json'), before, before);
    await utimes(join(folder, 'metrics.csv'), lastWrite, lastWrite);
    const record = await markInterrupted(folder);
    expect(record).toMatchObject({ status: 'interrupted', endedAt: lastWrite.toISOString(), hub: null });
    expect(record.attempts).toEqual([
      ended,
      { ...openAttempt, endedAt: lastWrite.toISOString(), status: 'interrupted' },
    ]);
    expect(await readRunRecord(folder)).toEqual(record);
    expect(await readEvents(folder)).toMatchObject([
      { kind: 'interrupted', attempt: 2, message: `Its hub (process ${DEAD_PID}) ended without closing the run.` },
    ]);
  });

  it('removes what the dead hub was writing, and of its workers only what they can no longer be writing', async () => {
    const folder = await temporaryFolder();
    await createRunFolder(folder, runRecord({ status: 'running', hub: deadHub }));
    await mkdir(join(folder, 'state', 'rank-0'), { recursive: true });
    const names = [
      'run.json.4711-9.tmp',
      'metrics.csv.4711-2.tmp',
      'state/rank-0/old.json.tmp',
      'state/rank-0/new.json.tmp',
    ];
    for (const name of names) await writeFile(join(folder, name), '');
    const earlier = new Date(Date.now() - 20_000);
    await utimes(join(folder, 'state', 'rank-0', 'old.json.tmp'), earlier, earlier);
    await markInterrupted(folder);
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(await readdir(join(folder, 'state', 'rank-0'))).toEqual(['new.json.tmp']);
    await writeFile(join(folder, 'run.json.4711-9.tmp'), '');
    (await takeOverRun(folder, (record) => record)).lock.release();
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('also closes a run that never started', async () => {
    const folder = await temporaryFolder();
    await createRunFolder(folder, runRecord({ status: 'created' }));
    expect((await markInterrupted(folder)).status).toBe('interrupted');
  });

  it('writes one event when several processes notice at the same time', async () => {
    const folder = await temporaryFolder();
    await createRunFolder(folder, runRecord({ status: 'running', hub: deadHub }));
    await Promise.all([markInterrupted(folder), markInterrupted(folder), markInterrupted(folder)]);
    expect(await readEvents(folder)).toHaveLength(1);
  });

  it('marks a run of a hub on a host that has been renamed', async () => {
    const folder = await temporaryFolder();
    await createRunFolder(folder, runRecord({ status: 'running', hub: { ...livingHub, host: 'old-name' } }));
    expect((await markInterrupted(folder)).status).toBe('interrupted');
  });

  it('never touches a run whose hub is alive, even if its socket is gone and no process has its id', async () => {
    const folder = await temporaryFolder();
    await createRunFolder(folder, runRecord({ status: 'running', hub: deadHub }));
    holdLock(folder);
    expect((await markInterrupted(folder)).status).toBe('running');
  });

  it('leaves a run as it is, and says why, where nobody can tell whether its hub is alive', async () => {
    const folder = await temporaryFolder();
    await createRunFolder(folder, runRecord({ status: 'running', hub: deadHub }));
    await writeFile(join(folder, 'hub.lock'), 'not a lock');
    await expect(markInterrupted(folder)).rejects.toThrow('Until then the run run-1 counts as running.');
    expect((await readRunRecord(folder)).status).toBe('running');
  });

  it('never touches a run whose hub is alive or a run that has ended', async () => {
    for (const changes of [
      { status: 'running' as const, hub: livingHub },
      { status: 'finished' as const, hub: null },
    ]) {
      const folder = await temporaryFolder();
      await createRunFolder(folder, runRecord(changes));
      if (changes.hub !== null) holdLock(folder);
      const before = await readFile(join(folder, 'run.json'), 'utf8');
      expect((await markInterrupted(folder)).status).toBe(changes.status);
      expect(await readFile(join(folder, 'run.json'), 'utf8')).toBe(before);
    }
  });
});

describe('takeOverRun', () => {
  it('lets exactly one of several processes take over', async () => {
    const folder = await temporaryFolder();
    const hub = livingHub;
    await createRunFolder(folder, runRecord({ status: 'interrupted' }));
    const results = await Promise.allSettled(
      ['a', 'b', 'c'].map((name) => takeOverRun(folder, (record) => ({ ...record, status: 'running', hub, name }))),
    );
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect((await readRunRecord(folder)).name).toBe('a');
    expect(String(results[1].status === 'rejected' && results[1].reason)).toContain(
      `The run run-1 ("a") is running under process ${process.pid} on ${hostname()}, which holds its ` +
        'lock: a run has one hub.',
    );
    for (const result of results) if (result.status === 'fulfilled') result.value.lock.release();
  });

  it('ends the attempt of a dead hub before it takes the run over', async () => {
    const folder = await temporaryFolder();
    await createRunFolder(folder, runRecord({ status: 'running', hub: deadHub, attempts: [openAttempt] }));
    const { before, record, lock } = await takeOverRun(folder, (found) => ({ ...found, status: 'created' }));
    lock.release();
    expect(before).toMatchObject({ status: 'interrupted', hub: null, attempts: [{ status: 'interrupted' }] });
    expect(record).toMatchObject({ status: 'created', attempts: [{ status: 'interrupted' }] });
    expect((await readEvents(folder)).map(({ kind }) => kind)).toEqual(['interrupted']);
  });
});

describe('recoverRuns', () => {
  it('marks abandoned runs in folders and index, and leaves the others unchanged', async () => {
    const home = await temporaryFolder();
    const index = await RunIndex.open(home);
    onTestFinished(() => {
      index.close();
    });
    await createRunFolder(join(home, 'runs', 'a'), runRecord({ id: 'a', status: 'running', hub: deadHub }));
    await createRunFolder(join(home, 'runs', 'b'), runRecord({ id: 'b', status: 'running', hub: livingHub }));
    holdLock(join(home, 'runs', 'b'));
    await createRunFolder(join(home, 'runs', 'c'), runRecord({ id: 'c', status: 'finished' }));
    await createRunFolder(join(home, 'runs', 'd'), runRecord({ id: 'd', status: 'running' }));
    await index.refresh();
    await writeFile(join(home, 'runs', 'd', 'run.json'), '');
    const { interrupted, problems } = await recoverRuns(index);
    expect(interrupted.map((record) => record.id)).toEqual(['a']);
    expect(problems.map((problem) => problem.folder)).toEqual([join(home, 'runs', 'd')]);
    expect(problems[0].message).toContain('is damaged');
    const statuses = index.list({ sort: { by: 'name', isDescending: false } }).map((run) => [run.id, run.status]);
    expect(statuses).toEqual([
      ['a', 'interrupted'],
      ['b', 'running'],
      ['c', 'finished'],
      ['d', 'running'],
    ]);
    expect((await recoverRuns(index)).interrupted).toEqual([]);
  });

  it.skipIf(noPermissions !== null)(`reports a run that it cannot write${notRun(noPermissions)}`, async () => {
    const home = await temporaryFolder();
    const index = await RunIndex.open(home);
    onTestFinished(() => {
      index.close();
    });
    const folder = join(home, 'runs', 'a');
    await createRunFolder(folder, runRecord({ status: 'running', hub: deadHub }));
    await chmod(folder, 0o500);
    expect((await recoverRuns(index)).problems[0].message).toContain('Cannot lock');
    await chmod(folder, 0o700);
  });
});
