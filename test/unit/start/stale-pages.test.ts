import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { expect, it } from 'vitest';
import config from '../../../electron.vite.config.ts';
import { whyStale } from '../../../src-main/built/build.ts';
import { temporaryFolder } from '../store/fixtures.ts';

const again = 'Building the pages again: their sources have changed.';
const sources = ['core/text/numbers.ts', 'src-renderer/main.ts', 'renderer.vite.config.ts', 'package.json'];
const results = ['out/renderer/index.html', 'out/report/report.iife.js'];

/** Writes a file with a time of modification in seconds since 1970. */
async function write(root: string, path: string, seconds: number, text = path): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
  await utimes(join(root, path), seconds, seconds);
}

/** Sources, and pages that were built of them later. */
async function built(): Promise<string> {
  const root = await temporaryFolder();
  for (const path of sources) await write(root, path, 1_000);
  for (const path of results) await write(root, path, 2_000);
  expect(await whyStale(root)).toBe(null);
  return root;
}

it('pages of the present sources stay', async () => {
  const root = await built();
  expect(await whyStale(root)).toBe(null);
  expect(await readdir(join(root, 'out/renderer'))).toEqual(['build.json', 'index.html']);
});

it.each(results)('are built where %s is missing', async (result) => {
  const root = await built();
  await rm(join(root, result));
  expect(await whyStale(root)).toBe('Building the pages, once.');
});

it.each(sources)('are built again after a change of %s', async (source) => {
  const root = await built();
  await write(root, source, 3_000);
  expect(await whyStale(root)).toBe(again);
});

it('are built again where a source was removed, added or replaced by one that is older than they are', async () => {
  const changes: ((root: string) => Promise<void>)[] = [
    (root) => rm(join(root, 'core/text/numbers.ts')),
    (root) => write(root, 'core/text/other.ts', 500),
    // Of another version, with its own time, as tar, rsync and package managers write it.
    (root) => write(root, 'src-renderer/main.ts', 900),
    (root) => write(root, 'src-renderer/main.ts', 1_000, 'longer than it was'),
  ];
  for (const change of changes) {
    const root = await built();
    await change(root);
    expect(await whyStale(root)).toBe(again);
  }
});

it('are built from any folder: nothing depends on the one of the call', () => {
  const { main, preload } = config as Record<string, { build: { outDir: string; rollupOptions: { input: object } } }>;
  const paths = [main, preload].flatMap(({ build }) => [build.outDir, ...Object.values(build.rollupOptions.input)]);
  expect(paths.map((path) => isAbsolute(String(path)))).toEqual([true, true, true, true]);
});
