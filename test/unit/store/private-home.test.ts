import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { removeHomeAsides, secureHome, takeHomeFindings } from '../../../src-main/store/private-home.ts';
import { notRun } from '../../environment/reasons.ts';
import { temporaryFolder } from './fixtures.ts';

const onWindows = process.platform === 'win32' ? 'Windows has other permissions' : null;

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

function setUmask(umask: number): void {
  const before = process.umask(umask);
  onTestFinished(() => void process.umask(before));
}

describe.skipIf(onWindows !== null)(`Tutti's home${notRun(onWindows)}`, () => {
  it.each([0o000, 0o002, 0o022, 0o077, 0o277])('is created for its owner alone with the umask %o', async (umask) => {
    const home = join(await temporaryFolder(), 'above', 'home');
    setUmask(umask);
    await secureHome(home);
    for (const folder of ['', 'runs', 'cache', 'exports'])
      expect([folder, await modeOf(join(home, folder))]).toEqual([folder, '700']);
    expect(takeHomeFindings()).toEqual([]);
  });

  it('is narrowed with a notice where others may read it', async () => {
    const home = await temporaryFolder();
    await mkdir(join(home, 'cache', 'compile'), { recursive: true });
    await writeFile(join(home, 'cache', 'compile', 'code'), 'compiled');
    await chmod(join(home, 'cache'), 0o755);
    await chmod(home, 0o750);
    await secureHome(home);
    expect([await modeOf(home), await modeOf(join(home, 'cache'))]).toEqual(['700', '700']);
    expect(takeHomeFindings()).toEqual([
      `Other users could use ${home} (mode 750). It is now yours alone (700).`,
      `Other users could use ${join(home, 'cache')} (mode 755). It is now yours alone (700).`,
    ]);
    // They could not write, so the compiled code is still Node's.
    expect(await readFile(join(home, 'cache', 'compile', 'code'), 'utf8')).toBe('compiled');
    await secureHome(home);
    expect(takeHomeFindings()).toEqual([]);
  });

  it.each([0o777, 0o770, 0o702])('loses its compiled code where others could write it: mode %o', async (mode) => {
    const home = await temporaryFolder();
    await mkdir(join(home, 'cache', 'compile'), { recursive: true, mode: 0o700 });
    await chmod(home, mode);
    await secureHome(home);
    expect(await modeOf(home)).toBe('700');
    expect(takeHomeFindings().join('\n')).toContain('the cache of compiled code was removed');
    await expect(stat(join(home, 'cache', 'compile'))).rejects.toThrow('ENOENT');
  });

  it('is private from the first command on, and a later one says what it narrowed', async () => {
    const home = join(await temporaryFolder(), 'home');
    setUmask(0);
    const command = join(import.meta.dirname, '../../../src-main/tutti.mjs');
    const { NODE_COMPILE_CACHE: _shared, ...others } = process.env;
    const list = () =>
      spawnSync(process.execPath, [command, 'runs'], { encoding: 'utf8', env: { ...others, TUTTI_HOME: home } });
    expect(list().stderr).toBe('');
    for (const folder of ['', 'runs', 'cache', 'exports'])
      expect([folder, await modeOf(join(home, folder))]).toEqual([folder, '700']);
    await chmod(home, 0o777);
    expect(list().stderr).toContain(`Other users could use ${home} (mode 777). It is now yours alone (700).`);
    expect(await modeOf(home)).toBe('700');
  });
});

it('loses the temporary files of killed processes, in all places where Tutti replaces files', async () => {
  const home = await temporaryFolder();
  const { pid: gone } = spawnSync(process.execPath, ['-e', '']);
  const places = [
    '.',
    'cache',
    'cache/data',
    'cache/data/fingerprints',
    'dashboard',
    'comparisons',
    'launches',
    'reachable',
  ];
  for (const place of places) {
    await mkdir(join(home, place), { recursive: true });
    await writeFile(join(home, place, `file.json.${gone}-1.tmp`), '');
    await writeFile(join(home, place, 'file.json'), '');
  }
  await removeHomeAsides(home);
  for (const place of places) {
    const names = await readdir(join(home, place));
    expect([place, names.includes('file.json'), names.some((name) => name.endsWith('.tmp'))]).toEqual([
      place,
      true,
      false,
    ]);
  }
});
