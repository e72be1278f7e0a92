import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { openService } from './page.ts';
import { notLinux, notRun } from '../../environment/reasons.ts';

it.skipIf(notLinux !== null)(`the file manager opens a folder${notRun(notLinux)}`, async () => {
  const { page, home } = await openService();
  const bin = join(home, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > '${home}/shown'\n`);
  await chmod(join(bin, 'xdg-open'), 0o755);
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
  vi.stubEnv('DISPLAY', ':0');
  await page.hub.openFolder('runs');
  await expect.poll(() => readFile(join(home, 'shown'), 'utf8').catch(() => '')).toBe(join(home, 'home', 'runs'));
});

it('without a file manager, the answer names the folder', async () => {
  const { page, home } = await openService();
  vi.stubEnv('PATH', home);
  await expect(page.hub.openFolder('home')).rejects.toThrow(`Open ${join(home, 'home')} yourself`);
});
