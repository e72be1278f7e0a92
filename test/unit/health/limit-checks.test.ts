import { enforcedByNode, type Enforcement } from '../../../core/protocol/machine/confinement.ts';
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { checkConfinement, checkLocks, checkOpenFiles, checkWatches } from '../../../src-main/health/limit-checks.ts';
import { temporaryFolder } from '../data/temp-folder.ts';

const limits = (soft: string) =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ` +
  `${soft}                 4096                 files\n`;

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
    const byKernel: Enforcement = { files: 'kernel', network: 'kernel', programs: 'kernel', problems: [] };
    expect(checkConfinement(byKernel)).toEqual({
      status: 'ok',
      detail: 'The kernel limits files, network, programs, for all threads',
    });
    expect(checkConfinement({ ...byKernel, files: 'node', problems: ['this kernel has no Landlock'] })).toMatchObject({
      status: 'warn',
      detail:
        'The kernel limits network, programs, for all threads. Only Node limits files, which does not hold for ' +
        'native code (this kernel has no Landlock)',
    });
    expect(checkConfinement(enforcedByNode('darwin has no limits beyond those of Node')).detail).toBe(
      'Only Node limits files, programs, which does not hold for native code. Nothing limits network (darwin ' +
        'has no limits beyond those of Node)',
    );
  });

  it('locks: takes one, sees it, and leaves nothing', async () => {
    const folder = await temporaryFolder();
    expect(await checkLocks(folder)).toEqual({ status: 'ok', detail: `work in ${folder}` });
    expect(await readdir(folder)).toEqual([]);
    await expect(checkLocks(`${folder}/none`)).rejects.toThrow(/Cannot create the lock .*\(ENOENT\)/);
  });
});
