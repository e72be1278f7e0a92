import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { readRunRecord, writeRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { Hub } from '../../../src-main/hub/hub.ts';
import { isRunning, pidOnceTraining, resume, startRun, useHub } from '../harness.ts';

const { hub } = useHub();
const config = { members: 2, devices: 2, maxEpochs: 1_000_000, checkpoints: { stateEverySeconds: 0 } };

it('a run whose folder is removed ends at once with an error, and nothing of it is listed', async () => {
  const run = await startRun(hub(), 'blobs', config);
  const pid = await pidOnceTraining(run, 0);
  await rm(run.folder, { recursive: true, force: true, maxRetries: 100, retryDelay: 1 });
  await expect(run.ended).rejects.toThrow(/was removed, moved or replaced while it trained/);
  expect(isRunning(pid)).toBe(false);
  expect(existsSync(`${run.folder}/run.json`)).toBe(false);
  expect(run.updates.at(-1)).toMatchObject({ type: 'ended', record: { status: 'failed', hub: null } });
  expect(hub().runs({})).toEqual([]);
});

it('a run whose folder is moved ends with an error, and is resumed at its new place', async () => {
  const run = await startRun(hub(), 'blobs', config);
  await pidOnceTraining(run, 0);
  const moved = `${run.folder}-moved`;
  await rename(run.folder, moved);
  await expect(run.ended).rejects.toThrow(/was removed, moved or replaced while it trained/);
  const next = await Hub.open();
  expect(next.notices.join('\n')).toContain('was interrupted');
  next.close();
  expect((await readRunRecord(moved)).attempts.map(({ status }) => status)).toEqual(['interrupted']);
  const record = await resume(hub(), moved, { maxEpochs: 1 });
  expect(record).toMatchObject({ status: 'finished', attempts: [{ status: 'interrupted' }, { status: 'finished' }] });
});

it('a run over whose record another process or a copy was put fails, and leaves that record to the next hub', async () => {
  const run = await startRun(hub(), 'blobs', config);
  const pid = await pidOnceTraining(run, 0);
  const record = await readRunRecord(run.folder);
  const foreign = {
    ...record,
    status: 'created' as const,
    hub: { host: 'elsewhere', pid: 1, socket: '/nowhere/hub.sock' },
  };
  await writeRunRecord(run.folder, foreign);
  run.session.control({ action: 'stop' });
  await expect(run.ended).rejects.toThrow(
    /run\.json was written by another process meanwhile: it says created, attempt 1 under process 1 on elsewhere, and not running, attempt 1\./,
  );
  expect(isRunning(pid)).toBe(false);
  expect(await readRunRecord(run.folder)).toEqual(foreign);
  // Its lock is free, so the next look ends it, and it continues from its state.
  await hub().searchRuns();
  expect((await readRunRecord(run.folder)).status).toBe('interrupted');
  expect(await resume(hub(), run.folder, { maxEpochs: 1 })).toMatchObject({ status: 'finished' });
});
