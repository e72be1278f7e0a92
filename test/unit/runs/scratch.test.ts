import { existsSync, statSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createScratchFolder } from '../../../src-main/runs/attempt/scratch.ts';
import { DEAD_PID } from '../store/fixtures.ts';

async function create(): Promise<string> {
  const folder = await createScratchFolder();
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
  const abandoned = join(dirname(living), `tutti-${DEAD_PID}-abcdef`);
  const foreign = join(dirname(living), `tutti-data-${DEAD_PID}`);
  for (const folder of [abandoned, foreign]) {
    await mkdir(folder);
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
  }
  await writeFile(join(abandoned, 'data.bin'), 'left over');
  await create();
  expect([abandoned, foreign, living].map(existsSync)).toEqual([false, true, true]);
});
