import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { launchFolder, readLaunch } from '../../../src-main/desktop/launch-folder.ts';

it.each<[string[], boolean, string | null]>([
  [['electron', 'out/main/electron.js'], false, null],
  [['electron', 'out/main/electron.js', 'moons'], false, resolve('/work', 'moons')],
  [['electron', 'out/main/electron.js', '--enable-logging', '/data/moons'], false, resolve('/data/moons')],
  [['electron', '--no-sandbox', 'out/main/electron.js', '--enable-logging', 'moons'], false, resolve('/work', 'moons')],
  [['electron', '--inspect=0', 'out/main/electron.js'], false, null],
  [['tutti', 'file:///data/two%20moons'], true, resolve('/data/two moons')],
  [['tutti'], true, null],
  [['tutti', '--no-sandbox', '../moons'], true, resolve('/moons')],
])('%j, packaged: %j', (argv, isPackaged, folder) => {
  expect(launchFolder(argv, isPackaged, '/work')).toBe(folder);
});

it('accepts from a second start only what Tutti sends', () => {
  expect(readLaunch({ folder: null })).toBeNull();
  expect(readLaunch({ folder: '/data/moons' })).toBe('/data/moons');
  for (const foreign of [undefined, null, {}, { folder: 7 }, { folder: '' }])
    expect(() => readLaunch(foreign)).toThrow(/invalid|too small/i);
});
