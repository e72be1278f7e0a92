import { chmod, rm, writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { isHubAlive, lookAtHub, tryHubLock } from '../../../../src-main/store/runs/hub-lock.ts';
import { createRunFolder, readRunRecord } from '../../../../src-main/store/runs/run-folder.ts';
import { notRun, notWindows } from '../../../environment/reasons.ts';
import { temporaryFolder } from '../fixtures.ts';
import { runRecord } from '../records.ts';
import { act, asNobody, end, inNamespace, whyNotWith } from './actors.ts';

let folder = '';
beforeEach(async () => {
  folder = await temporaryFolder();
  // Another user may look.
  await chmod(folder, 0o755);
});

describe('the lock of a hub', () => {
  it('is free without a hub, held while it lives, and free as soon as it is killed', async () => {
    expect(isHubAlive(folder)).toBe(false);
    const hub = await act('hold', folder);
    expect(isHubAlive(folder)).toBe(true);
    expect(tryHubLock(folder)).toBeNull();
    await end(hub);
    expect(isHubAlive(folder)).toBe(false);
  });

  it('is held in the eyes of the process that holds it, whatever it looked at and closed before', () => {
    const lock = tryHubLock(folder);
    expect([isHubAlive(folder), isHubAlive(folder), tryHubLock(folder)]).toEqual([true, true, null]);
    lock?.release();
    expect(isHubAlive(folder)).toBe(false);
  });

  it('stays held after its own process looked, in the eyes of others', async () => {
    const lock = tryHubLock(folder);
    isHubAlive(folder);
    expect((await act('look', folder)).result).toEqual({ kind: 'held' });
    lock?.release();
  });

  it('stays held when garbage is collected', async () => {
    expect((await act('forget', folder)).result).toBe(true);
    expect(isHubAlive(folder)).toBe(true);
  });

  it.skipIf(notWindows !== null)(`stays held by a stopped hub${notRun(notWindows)}`, async () => {
    const hub = await act('hold', folder);
    hub.child.kill('SIGSTOP');
    expect((await act('look', folder)).result).toEqual({ kind: 'held' });
    expect(isHubAlive(folder)).toBe(true);
  });

  it('is seen as held by 600 looks of eight processes at the same time', async () => {
    await act('hold', folder);
    const looks = await Promise.all(Array.from({ length: 8 }, () => act('lookOften', folder)));
    expect(looks.map(({ result }) => result)).toEqual(Array.from({ length: 8 }, () => 75));
  });

  it('can be had while others look without end', async () => {
    await Promise.all([act('stare', folder), act('stare', folder)]);
    for (let round = 0; round < 3; round += 1) {
      const hub = await act('hold', folder);
      expect(hub.result).toBe(true);
      await end(hub);
    }
  });

  it('has one holder of five that want it at the same moment', async () => {
    await createRunFolder(folder, runRecord({ status: 'interrupted' }));
    const claimants = await Promise.all(Array.from({ length: 5 }, () => act('takeOver', folder)));
    const winners = claimants.filter(({ result }) => result === true);
    expect(winners).toHaveLength(1);
    expect((await readRunRecord(folder)).hub?.pid).toBe(winners[0].child.pid);
  });

  const noNamespace = whyNotWith(inNamespace);
  it.skipIf(noNamespace !== null)(
    `is held in the eyes of another namespace of processes, in both directions${notRun(noNamespace)}`,
    async () => {
      const outside = await act('hold', folder);
      expect((await act('look', folder, inNamespace)).result).toEqual({ kind: 'held' });
      await end(outside);
      const inside = await act('hold', folder, inNamespace);
      expect(isHubAlive(folder)).toBe(true);
      await end(inside);
    },
  );

  const noOtherUser = whyNotWith(asNobody);
  it.skipIf(noOtherUser !== null)(
    `is held in the eyes of another user, or unknown where that user may not look${notRun(noOtherUser)}`,
    async () => {
      await act('hold', folder);
      expect((await act('look', folder, asNobody)).result).toEqual({ kind: 'held' });
      await chmod(folder, 0o700);
      expect((await act('look', folder, asNobody)).result).toEqual({
        kind: 'unknown',
        reason: expect.stringContaining('this user may not (EACCES)') as string,
      });
    },
  );

  it('is unknown, so the hub counts as alive, where the file is not a lock', async () => {
    await writeFile(`${folder}/hub.lock`, 'something that Tutti did not write');
    expect(lookAtHub(folder)).toMatchObject({
      kind: 'unknown',
      reason: expect.stringContaining('Remove it') as string,
    });
    expect(() => tryHubLock(folder)).toThrow('it is not empty, so Tutti did not write it');
  });
});

it('notices that its file was removed or replaced', async () => {
  const lock = tryHubLock(folder);
  expect(await lock?.isInPlace()).toBe(true);
  await rm(`${folder}/hub.lock`);
  expect(await lock?.isInPlace()).toBe(false);
  await writeFile(`${folder}/hub.lock`, '');
  expect(await lock?.isInPlace()).toBe(false);
  lock?.release();
});
