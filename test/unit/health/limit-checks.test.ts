import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { checkConfinement, checkLocks, checkOpenFiles, checkWatches } from '../../../src-main/health/limit-checks.ts';
import { temporaryFolder } from '../data/temp-folder.ts';

const limits = (soft: string) =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${soft}                 4096                 files\n`;

describe('checks of limits', () => {
  it.each([
    [limits('1024'), 'ok', '1024 at most'],
    [limits('256'), 'warn', '256 at most'],
    [limits('unlimited'), 'ok', 'unlimited at most'],
    [null, 'ok', 'the limit is not known on this system'],
  ])('open files', (text, status, detail) => {
    expect(checkOpenFiles(text)).toMatchObject({ status, detail });
  });

  it('inotify: both limits count', () => {
    expect(checkWatches({ watches: 65_536, watchers: 128 })).toEqual({
      status: 'ok',
      detail: '65.5k watches, 128 watchers',
    });
    expect(checkWatches({ watches: 4096, watchers: 128 })).toMatchObject({
      status: 'warn',
      remedy: expect.stringContaining('sysctl'),
    });
    expect(checkWatches({ watches: 65_536, watchers: 16 }).status).toBe('warn');
    expect(checkWatches(null).status).toBe('ok');
  });

  it('projects: names each limit that the system does not enforce', () => {
    const output = 'Not limited by the system: this kernel has no Landlock.\nNot limited by the system: no filter.\n';
    expect(checkConfinement(output)).toMatchObject({
      status: 'warn',
      detail: 'this kernel has no Landlock; no filter',
    });
    expect(checkConfinement('')).toMatchObject({ status: 'ok' });
  });

  it('locks: takes one, sees it, and leaves nothing', async () => {
    const folder = await temporaryFolder();
    expect(await checkLocks(folder)).toEqual({ status: 'ok', detail: `work in ${folder}` });
    expect(await readdir(folder)).toEqual([]);
    await expect(checkLocks(`${folder}/none`)).rejects.toThrow(/Cannot create the lock .*\(ENOENT\)/);
  });
});
