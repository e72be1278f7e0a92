import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { RunEvent } from '../../../core/protocol/run/record.ts';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import {
  metricValues,
  pidOnceTraining,
  resume,
  startRun,
  train,
  useHub,
  type WatchedRun,
  watchResume,
} from '../harness.ts';

const { hub, home } = useHub();
const noMount = 'no disk can be mounted here';
/** Weights of 100 kB, far more than the space that a removed part of a file leaves. */
const config: RunConfigInput = {
  members: 2,
  devices: 2,
  maxEpochs: 100_000,
  checkpoints: { stateEverySeconds: 0 },
  hyperparameters: { hiddenUnits: 4000 },
};

/** A disk of a few bytes, removed after the test, or null if this process may not mount one. */
function mountTinyDisk(name: string, bytes: number): string | null {
  const folder = join(home(), name);
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'none', folder], { stdio: 'ignore' });
  } catch {
    return null;
  }
  onTestFinished(() => void execFileSync('umount', [folder]));
  return folder;
}

function fill(filler: string): void {
  expect(() => {
    for (;;) appendFileSync(filler, Buffer.alloc(65_536));
  }).toThrow('ENOSPC');
}

/** Starts a run on a disk and fills the disk once both ranks train. @returns null where no disk can be mounted */
async function runOnFilledDisk(name: string): Promise<{ run: WatchedRun; makeRoom: () => void } | null> {
  const disk = mountTinyDisk(name, 24 * 1024 ** 2);
  if (disk === null) return null;
  const run = await startRun(hub(), 'blobs', config, join(disk, 'run'));
  for (const rank of [0, 1]) await pidOnceTraining(run, rank);
  const filler = join(disk, 'filler');
  fill(filler);
  return { run, makeRoom: () => truncateSync(filler) };
}

async function untilEvent(run: WatchedRun, matches: (event: RunEvent) => boolean): Promise<RunEvent> {
  const update = await run.until((one) => one.type === 'event' && matches(one.event));
  if (update.type !== 'event') throw new Error('This was an event.');
  return update.event;
}

/**
 * The hub may find the disk full first: the first rank then waits until its metrics are written, and the others wait
 * for it.
 */
const ofKind = (kind: string) => (event: RunEvent) => event.kind === kind;

describe('a disk without room', () => {
  it('is noticed before training starts', async ({ skip }) => {
    const disk = mountTinyDisk('small-disk', 4 * 1024 ** 2);
    if (disk === null) return skip(noMount);
    const run = await startRun(hub(), 'blobs', { ...config, maxEpochs: 1 }, join(disk, 'run'));
    const record = await run.ended;
    expect(record).toMatchObject({ status: 'failed', error: { rank: null } });
    expect(record.error?.message).toMatch(
      /^The run may take [\d.]+ MiB, but only [\d.]+ MiB are free on the disk of .*small-disk\/run\. Free some space, .*--out/,
    );
    expect(run.updates.some((update) => update.type === 'worker' && update.state === 'training')).toBe(false);
  });

  it('pauses a run, which says what it needs, and continues with the same bits once there is room', async ({
    skip,
  }) => {
    const started = await runOnFilledDisk('filling-disk');
    if (started === null) return skip(noMount);
    const { run, makeRoom } = started;
    const full = await untilEvent(run, ofKind('disk-full'));
    expect(full.message).toMatch(
      /^Waiting for disk space: the disk is full \(ENOSPC\), and .*filling-disk\/run\/.* cannot be written\./,
    );
    expect(await readRunRecord(run.folder)).toMatchObject({ status: 'running', error: null });
    makeRoom();
    await untilEvent(run, ofKind('disk-room'));
    await untilEvent(run, ({ kind, epoch }) => kind === 'checkpoint' && epoch !== null && epoch > (full.epoch ?? 0));
    run.session.control({ action: 'stop' });
    expect((await run.ended).status).toBe('stopped');
    const epochs = (full.epoch ?? 0) + 2;
    const undisturbed = await train(hub(), 'blobs', { ...config, maxEpochs: epochs });
    expect(metricValues(run.folder, 'val/ens_nll').slice(0, epochs)).toEqual(
      metricValues(undisturbed.folder, 'val/ens_nll'),
    );
    const kinds = (await readEvents(run.folder)).map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['disk-full', 'disk-room']));
  });

  it('lets a user stop the run meanwhile; it keeps what was saved before, and resumes', async ({ skip }) => {
    const started = await runOnFilledDisk('stopped-disk');
    if (started === null) return skip(noMount);
    const { run, makeRoom } = started;
    await untilEvent(run, ofKind('disk-full'));
    run.session.control({ action: 'stop' });
    makeRoom();
    const record = await run.ended;
    expect(record.status).toBe('stopped');
    const epochs = (record.summary?.epochs ?? 0) + 2;
    const resumed = await resume(hub(), run.folder, { maxEpochs: epochs });
    expect(resumed).toMatchObject({ status: 'finished', error: null, summary: { epochs } });
  });

  it('lets a user end the run at once; it resumes from what was saved before', async ({ skip }) => {
    const started = await runOnFilledDisk('aborted-disk');
    if (started === null) return skip(noMount);
    const { run, makeRoom } = started;
    await untilEvent(run, ({ kind, rank }) => kind === 'disk-full' && rank === null);
    run.session.abort();
    await expect(run.ended).rejects.toThrow(/disk is full/);
    makeRoom();
    const found = (await readEvents(run.folder)).findLast(({ kind }) => kind === 'checkpoint');
    const epochs = (found?.epoch ?? 0) + 5;
    expect(await resume(hub(), run.folder, { maxEpochs: epochs })).toMatchObject({ status: 'finished' });
    expect(metricValues(run.folder, 'val/ens_nll')).toHaveLength(epochs);
  });

  it('lets a resume wait before it starts, until there is room or the user stops it', async ({ skip }) => {
    const disk = mountTinyDisk('resumed-disk', 24 * 1024 ** 2);
    if (disk === null) return skip(noMount);
    const first = await startRun(hub(), 'blobs', { ...config, maxEpochs: 2 }, join(disk, 'run'));
    expect(await first.ended).toMatchObject({ status: 'finished' });
    const filler = join(disk, 'filler');
    fill(filler);
    const stopped = await watchResume(hub(), first.folder, { maxEpochs: 4 });
    await untilEvent(stopped, ofKind('disk-full'));
    stopped.session.control({ action: 'stop' });
    await expect(stopped.ended).rejects.toThrow(/disk is full|are free on the disk/);
    const resumed = await watchResume(hub(), first.folder, { maxEpochs: 4 });
    const { message } = await untilEvent(resumed, ofKind('disk-full'));
    expect(message).toMatch(/^Waiting for disk space: the disk is full \(ENOSPC\), and .*resumed-disk\/run/);
    truncateSync(filler);
    expect(await resumed.ended).toMatchObject({ status: 'finished', error: null, summary: { epochs: 4 } });
    const undisturbed = await train(hub(), 'blobs', { ...config, maxEpochs: 4 });
    expect(metricValues(resumed.folder, 'val/ens_nll')).toEqual(metricValues(undisturbed.folder, 'val/ens_nll'));
  });
});
