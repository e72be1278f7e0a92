import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderKey, type FolderSystem, isDirectlyIn, isSameFolder } from '../../../core/node/same-folder.ts';

/**
 * A system with these folders, by the spelling that its disk has.
 * @param real finds it for a path; null: nothing there
 */
function system(platform: NodeJS.Platform, real: (path: string) => string | null): FolderSystem {
  const realpath = (path: string): string => {
    const found = real(path);
    if (found === null) throw Object.assign(new Error('none'), { code: 'ENOENT' });
    return found;
  };
  return { platform, realpath };
}

describe('on Windows', () => {
  const disk = ['C:\\Users\\Ann\\Moons', 'C:\\Users\\Ann\\Blobs'];
  const windows = system('win32', (path) => disk.find((one) => one.toLowerCase() === path.toLowerCase()) ?? null);

  it.each<[string, string, boolean]>([
    ['c:\\users\\ann\\moons', 'C:\\Users\\Ann\\Moons', true],
    ['C:/Users/Ann/Moons/', 'C:\\Users\\Ann\\Moons', true],
    ['C:\\Users\\Ann\\Blobs\\..\\moons', 'C:\\Users\\Ann\\Moons', true],
    ['C:\\Users\\Ann\\Blobs', 'C:\\Users\\Ann\\Moons', false],
    ['D:\\Gone\\Moons', 'd:\\gone\\moons', true],
    ['D:\\Gone\\Moons', 'C:\\Users\\Ann\\Moons', false],
    ['\\\\server\\share\\moons', '\\\\SERVER\\share\\Moons', true],
  ])('%s and %s: %s', (a, b, expected) => {
    expect(isSameFolder(a, b, windows)).toBe(expected);
  });

  it('finds what lies directly in a folder', () => {
    expect(isDirectlyIn('c:/users/ann/moons/run-1', 'C:\\Users\\Ann\\Moons', windows)).toBe(true);
    expect(isDirectlyIn('c:/users/ann/moons/a/run-1', 'C:\\Users\\Ann\\Moons', windows)).toBe(false);
  });
});

it('tells folders apart on macOS as their disk does', () => {
  // A volume that minds the case has both; another has one, under the spelling that it got.
  const minding = system('darwin', (path) => (['/a/Moons', '/a/moons'].includes(path) ? path : null));
  expect(isSameFolder('/a/Moons', '/a/moons', minding)).toBe(false);
  const ignoring = system('darwin', (path) => (path.toLowerCase() === '/a/moons' ? '/a/Moons' : null));
  expect(isSameFolder('/a/MOONS', '/a/moons', ignoring)).toBe(true);
  expect(isSameFolder('/gone/MOONS', '/gone/moons', ignoring)).toBe(true);
});

it('minds the case of a folder on Linux that is gone', () => {
  const linux = system('linux', () => null);
  expect(isSameFolder('/gone/MOONS', '/gone/moons', linux)).toBe(false);
  expect(isSameFolder('/gone/moons/', '/gone/x/../moons', linux)).toBe(true);
});

it('reports a path that cannot be looked at', () => {
  const realpath = (): string => {
    throw Object.assign(new Error('no entry'), { code: 'EACCES' });
  };
  expect(() => folderKey('/locked/moons', { platform: 'linux', realpath })).toThrow('no entry');
});

it('follows symbolic links on this disk, also in a relative path', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-same-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [moons, link] = [join(folder, 'moons'), join(folder, 'link')];
  await mkdir(moons);
  await symlink(moons, link);
  expect(isSameFolder(link, moons)).toBe(true);
  expect(isSameFolder(relative(process.cwd(), link), moons)).toBe(true);
  expect(isDirectlyIn(join(link, 'run-1'), moons)).toBe(true);
  expect(isSameFolder(folder, moons)).toBe(false);
});
