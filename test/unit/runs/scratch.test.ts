import { existsSync, statSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ScratchFolder } from '../../../src-main/runs/workers/scratch.ts';
import { FileLock } from '../../../core/node/file-lock.ts';
import { notRun } from '../../environment/reasons.ts';
import { DEAD_PID } from '../store/fixtures.ts';
import { act, end, inNamespace, whyNotWith } from '../store/runs/actors.ts';

async function create(): Promise<string> {
  const folder = await ScratchFolder.create();
  onTestFinished(() => folder.remove());
  return folder.path;
}

/** A folder with a name of scratch folders, beside the others. */
async function makeFolder(parent: string, name: string): Promise<string> {
  const folder = join(parent, name);
  await mkdir(folder);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

it('is a new folder that only its owner may enter', async () => {
  const [first, second] = [await create(), await create()];
  expect(first).not.toBe(second);
  expect(statSync(first).mode & 0o777).toBe(0o700);
});

it('removes the remains of a dead hub, and nothing else', async () => {
  const living = await create();
  const parent = dirname(living);
  const abandoned = await makeFolder(parent, `tutti-${DEAD_PID}-abcdef`);
  const foreign = await makeFolder(parent, `tutti-data-${DEAD_PID}`);
  for (const folder of [abandoned, foreign]) await writeFile(join(folder, 'hub.lock'), '');
  await writeFile(join(abandoned, 'data.bin'), 'left over');
  await create();
  expect([abandoned, foreign, living].map(existsSync)).toEqual([false, true, true]);
});

it('keeps a folder whose lock is held, whatever process its name names, and one that has no lock yet', async () => {
  const parent = dirname(await create());
  const held = await makeFolder(parent, `tutti-${DEAD_PID}-fedcba`);
  const lock = FileLock.tryTake(join(held, 'hub.lock'));
  onTestFinished(() => lock?.release());
  const fresh = await makeFolder(parent, `tutti-${DEAD_PID}-fresh0`);
  await create();
  expect([held, fresh].map(existsSync)).toEqual([true, true]);
});

const noNamespace = whyNotWith(inNamespace);
it.skipIf(noNamespace !== null)(
  `keeps the folders of hubs in two containers where each is process 1, until they are killed${notRun(noNamespace)}`,
  async () => {
    const containers = [await act('scratch', '', inNamespace), await act('scratch', '', inNamespace)];
    const folders = containers.map(({ result }) => String(result));
    await create();
    expect(folders.map(existsSync)).toEqual([true, true]);
    for (const container of containers) await end(container);
    await create();
    expect(folders.map(existsSync)).toEqual([false, false]);
  },
);

it('is made in the next place where the first has none, with a second folder for what does not fit into memory', async () => {
  const [first, second] = [
    await makeFolder(tmpdir(), `place-${process.pid}-1`),
    await makeFolder(tmpdir(), `place-${process.pid}-2`),
  ];
  const both = await ScratchFolder.create([first, second]);
  expect([dirname(both.path), dirname(both.overflow ?? '')]).toEqual([first, second]);
  await both.remove();
  expect([both.path, both.overflow ?? ''].map(existsSync)).toEqual([false, false]);
  const one = await ScratchFolder.create([join(first, 'none'), second]);
  expect([dirname(one.path), one.overflow]).toEqual([second, null]);
  await one.remove();
  await expect(ScratchFolder.create([join(first, 'none'), join(second, 'none')])).rejects.toThrow(
    /there is none:\nCannot create a scratch folder in .*-1\/none: .*\(ENOENT\).*\nCannot .*-2\/none: .*\nMake room/,
  );
});
