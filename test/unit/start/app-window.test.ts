import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { writeRedirect } from '../../../src-main/start/app-window.ts';

it('leads to a link by a file that only its owner can read, whatever the umask, until it is removed', async () => {
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
  const { address, remove } = await writeRedirect('http://127.0.0.1:1/?token=secret');
  expect(address).toMatch(/^file:\/\/\//);
  expect(address).not.toContain('secret');
  const file = fileURLToPath(address);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(dirname(file))).mode & 0o777).toBe(0o700);
  expect(await readFile(file, 'utf8')).toContain('content="0;url=http://127.0.0.1:1/?token=secret"');
  await remove();
  await expect(stat(dirname(file))).rejects.toThrow('ENOENT');
  await remove();
});
