import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { RunRequest, StartedRun } from '../../../core/protocol/pages/project-views.ts';
import type { WaitingRun } from '../../../core/protocol/pages/runs/run-queue.ts';
import { Hub } from '../../../src-main/hub/hub.ts';
import { lockSearch } from '../../../src-main/discovery/search-folder.ts';
import { changeQueue, QueueWork, readQueue } from '../../../src-main/campaigns/queue-work.ts';
import { WorkerLock } from '../../../src-main/campaigns/locks.ts';
import { openService } from '../../unit/rpc/page.ts';
import { tinyProject } from '../../unit/rpc/tiny-project.ts';

/** A request for a run of a few steps. */
function requestOf(name: string, changes: Partial<RunRequest> = {}): RunRequest {
  return { projectFolder: tinyProject, overrides: { maxEpochs: 2 }, name, out: null, ...changes };
}

const waits = (id: string, changes: Partial<WaitingRun> = {}): WaitingRun => ({
  id,
  request: requestOf(id),
  name: id,
  addedAt: '2026-01-01T00:00:00Z',
  startedAt: null,
  error: null,
  ...changes,
});

it(
  'starts waiting runs one after the other, and continues after one that cannot start',
  { timeout: 120_000 },
  async () => {
    const { page, home } = await openService();
    const { hub } = page;
    await hub.trustProject(tinyProject);
    const first = await hub.startRun(requestOf('first', { overrides: { maxEpochs: 4 } }));
    // Its folder is taken by the time it starts.
    const taken = join(home, 'taken');
    await hub.enqueueRun(requestOf('blocked', { out: taken }));
    const { id, place } = await hub.enqueueRun(requestOf('last'));
    expect(place).toBe(2);
    await mkdir(taken);
    await writeFile(join(taken, 'run.json'), '{}');
    const names = async () => (await hub.queue()).map(({ name, error }) => [name, error !== null]);
    await expect.poll(names, { timeout: 90_000 }).toEqual([['blocked', true]]);
    const runs = async () =>
      (await hub.runs({ sort: { by: 'created', isDescending: false } })).rows.map(({ name, status }) => [name, status]);
    await expect.poll(runs, { timeout: 60_000 }).toEqual([
      ['first', 'finished'],
      ['last', 'finished'],
    ]);
    // The second began after the first had ended.
    const { rows } = await hub.runs({});
    const [last, before] = rows;
    expect(before.id).toBe(first.id);
    expect(Date.parse(last.createdAt)).toBeGreaterThanOrEqual(Date.parse(before.endedAt ?? ''));
    await expect(hub.startWaiting(id)).rejects.toThrow(`No run ${id} waits`);
  },
);

/** A home with a queue, and works on it that start nothing real. */
async function openQueue(runs: WaitingRun[]) {
  const home = await mkdtemp(join(tmpdir(), 'tutti-queue-'));
  vi.stubEnv('TUTTI_HOME', home);
  const hub = await Hub.open();
  await changeQueue(() => runs);
  const started: string[] = [];
  const errors: unknown[] = [];
  const works: QueueWork[] = [];
  const open = (start: (id: string) => Promise<StartedRun>, isBusy = () => false): QueueWork => {
    const work = new QueueWork({
      hub,
      start: ({ id }) => {
        started.push(id);
        return start(id);
      },
      isBusy,
      changed: () => undefined,
      onError: (error) => errors.push(error),
    });
    works.push(work);
    return work;
  };
  onTestFinished(async () => {
    for (const work of works) await work.close();
    hub.close();
    vi.unstubAllEnvs();
    await rm(home, { recursive: true });
    expect(errors).toEqual([]);
  });
  return { home, started, open };
}

const fine = (id: string): Promise<StartedRun> => Promise.resolve({ id, sweep: null });

it('keeps what waits over the end of the process, and never starts a run twice', async () => {
  // The process before this one ended while it started the first.
  const { home, started, open } = await openQueue([waits('a', { startedAt: '2026-01-01T00:00:01Z' }), waits('b')]);
  open(fine);
  await expect.poll(() => started).toEqual(['b']);
  await expect.poll(async () => (await readQueue()).map(({ id }) => id)).toEqual(['a']);
  expect((await readQueue())[0].error).toContain('Tutti ended while it started this run.');
  const text = await readFile(join(home, 'queue.json'), 'utf8');
  expect(JSON.parse(text)).toMatchObject({ format: 1, runs: [{ id: 'a', startedAt: null }] });
});

it('waits while the process is busy, and lets a second process start nothing', async () => {
  const { started, open } = await openQueue([waits('a'), waits('b')]);
  let isBusy = true;
  const work = open(fine, () => isBusy);
  await expect.poll(() => work.waiting).toBe(2);
  // The first holds the lock once it has looked.
  await work.startNow('b');
  const other = open(() => Promise.reject(new Error('The other process must start nothing.')));
  other.look();
  await expect.poll(() => work.waiting).toBe(1);
  // They wait for the first process.
  expect(other.waiting).toBe(0);
  isBusy = false;
  work.look();
  await expect.poll(() => started).toEqual(['b', 'a']);
  await expect.poll(() => [work.waiting, other.waiting]).toEqual([0, 0]);
});

it('waits while a study or a search is under way, between two of its runs too', async () => {
  const { home, started, open } = await openQueue([waits('a')]);
  const [study, search] = [join(home, 'studies', 'some-study'), join(home, 'discoveries', 'some-search')];
  for (const folder of [study, search]) await mkdir(folder, { recursive: true });
  await writeFile(join(study, 'study.json'), '{}');
  let looks = 0;
  const worker = await WorkerLock.take(study);
  const work = open(fine, () => {
    looks += 1;
    return false;
  });
  /** The first of two looks has ended once the second has begun. */
  const lookTwice = async (): Promise<void> => {
    const before = looks;
    for (let count = 1; count <= 2; count++) {
      work.look();
      await expect.poll(() => looks).toBeGreaterThanOrEqual(before + count);
    }
  };
  await lookTwice();
  const lock = lockSearch(search);
  worker.release();
  await lookTwice();
  await lookTwice();
  expect(started).toEqual([]);
  lock.release();
  work.look();
  await expect.poll(() => started).toEqual(['a']);
});

it('says why a run could not start, and starts it again on request', async () => {
  const { open } = await openQueue([waits('a')]);
  let isPossible = false;
  const work = open((id) => (isPossible ? fine(id) : Promise.reject(new Error('No device is free.'))));
  await expect.poll(async () => (await readQueue())[0]?.error).toBe('No device is free.');
  isPossible = true;
  expect(await work.startNow('a')).toEqual({ id: 'a', sweep: null });
  expect(await readQueue()).toEqual([]);
});

it('refuses a damaged file with its path and the remedy', async () => {
  const { home } = await openQueue([]);
  await writeFile(join(home, 'queue.json'), '{"format":1,"runs":[{}]}');
  await expect(readQueue()).rejects.toThrow(/queue\.json is damaged: .*\n[^]*remove it/);
});
