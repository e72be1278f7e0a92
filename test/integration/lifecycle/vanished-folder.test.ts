import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
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
