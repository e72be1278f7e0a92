import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { Hub } from '../../../src-main/hub/hub.ts';
import { pidOnceTraining, resume, startRun, useHub } from '../harness.ts';

const { home } = useHub();
const noMount = 'no disk can be mounted here';
const config: RunConfigInput = { members: 2, devices: 2, maxEpochs: 100_000, checkpoints: { stateEverySeconds: 0 } };

/** A second hub, whose home a test takes away. */
async function openHub(folder: string): Promise<Hub> {
  vi.stubEnv('TUTTI_HOME', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const hub = await Hub.open();
  onTestFinished(() => hub.close());
  return hub;
}

/** Mounts a disk at a new folder, until the end of the test. @returns null if this process may not */
function mountDisk(name: string): string | null {
  const folder = join(home(), name);
  mkdirSync(folder, { mode: 0o700 });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=700', 'none', folder], { stdio: 'ignore' });
  } catch {
    return null;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder], { stdio: 'ignore' }));
  return folder;
}

describe('a home that goes away', () => {
  it('removed while a run outside of it trains: the run goes on to its end', async () => {
    const removed = join(home(), 'removed-home');
    const run = await startRun(await openHub(removed), 'blobs', config, join(home(), 'outside'));
    await pidOnceTraining(run, 0);
    rmSync(removed, { recursive: true });
    await run.until(({ type }) => type === 'checkpoint');
    run.session.control({ action: 'stop' });
    expect(await run.ended).toMatchObject({ status: 'stopped', error: null });
  });

  it('unmounted while a run in it trains: the run ends at once, with the reason', async ({ skip }) => {
    const disk = mountDisk('unmounted-home');
    if (disk === null) return skip(noMount);
    const run = await startRun(await openHub(disk), 'blobs', config);
    await pidOnceTraining(run, 0);
    execFileSync('umount', ['-l', disk]);
    await expect(run.ended).rejects.toThrow(
      /^The folder .*unmounted-home.* was removed, moved or replaced while it trained/,
    );
    // For the end of the test.
    execFileSync('mount', ['-t', 'tmpfs', 'none', disk]);
  });

  it('read-only before a run: lists work, a run there is refused with the reason, and one elsewhere trains', async ({
    skip,
  }) => {
    const disk = mountDisk('read-only-before');
    if (disk === null) return skip(noMount);
    (await openHub(disk)).close();
    execFileSync('mount', ['-o', 'remount,bind,ro', disk]);
    const hub = await openHub(disk);
    expect(hub.runs({})).toEqual([]);
    const refused = await startRun(hub, 'blobs', config);
    await expect(refused.ended).rejects.toThrow(/read-only-before.*mounted read-only \(EROFS\).*--out or TUTTI_HOME/);
    const elsewhere = await startRun(hub, 'blobs', { ...config, maxEpochs: 1 }, join(home(), 'elsewhere'));
    expect(await elsewhere.ended).toMatchObject({ status: 'finished', error: null });
  });

  it('read-only and empty: it is named, a run there is refused, and one elsewhere trains, is found by its folder and resumed', async ({
    skip,
  }) => {
    const disk = mountDisk('read-only-and-empty');
    if (disk === null) return skip(noMount);
    execFileSync('mount', ['-o', 'remount,bind,ro', disk]);
    const hub = await openHub(disk);
    expect(hub.notices).toEqual([
      expect.stringMatching(
        /^Cannot create .*read-only-and-empty\/runs: the disk is mounted read-only \(EROFS\).*--out alone\.$/,
      ),
    ]);
    expect(hub.runs({})).toEqual([]);
    const refused = await startRun(hub, 'blobs', config);
    await expect(refused.ended).rejects.toThrow(/mounted read-only \(EROFS\).*--out or TUTTI_HOME/);
    const folder = join(home(), 'beside-an-empty-home');
    const elsewhere = await startRun(hub, 'blobs', { ...config, maxEpochs: 1 }, folder);
    expect(await elsewhere.ended).toMatchObject({ status: 'finished', error: null });
    hub.close();
    const next = await openHub(disk);
    expect((await next.find(folder)).status).toBe('finished');
    expect(await resume(next, folder, { maxEpochs: 2 })).toMatchObject({ status: 'finished', summary: { epochs: 2 } });
  });
});
