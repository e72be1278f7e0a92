import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../../core/node/make-folder.ts';
import { notLinux, notRun } from '../../../environment/reasons.ts';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-folder-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

it('creates a folder and those on the way to it, with their permissions, once or again', async () => {
  const folder = await temporaryFolder();
  const deep = join(folder, 'a', 'b', 'c');
  await makeFolder(deep, 0o700);
  await makeFolder(deep, 0o700);
  const modes = [join(folder, 'a'), deep].map(async (path) => ((await stat(path)).mode & 0o777).toString(8));
  expect(await Promise.all(modes)).toEqual(['700', '700']);
});

it('creates the same folder several times at once', async () => {
  const deep = join(await temporaryFolder(), 'a', 'b', 'c', 'd');
  await Promise.all(Array.from({ length: 20 }, () => makeFolder(deep)));
  expect((await stat(deep)).isDirectory()).toBe(true);
});

it('refuses a file with the name of a folder', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'file'), '');
  await expect(makeFolder(join(folder, 'file'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(makeFolder(join(folder, 'file', 'run'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

it.skipIf(notLinux !== null)(`refuses a file system that takes no folders${notRun(notLinux)}`, async () => {
  await expect(makeFolder('/proc/tutti/run')).rejects.toMatchObject({
    code: 'ENOTSUP',
    message: '/proc takes no folders.',
  });
});
