import { appendFile, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readLog } from '../../../src-main/rpc/runs/logs.ts';

it('a log of two gigabytes without a line break is not read as a whole', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'logs', 'rank-0.log');
  await mkdir(join(folder, 'logs'));
  await writeFile(path, '');
  // A file with a hole takes no space.
  await truncate(path, 2 ** 31);
  await appendFile(path, '\n2026-01-02T03:04:05.678Z the last line\n');
  expect(await readLog(folder, 0, 5)).toEqual([{ time: '2026-01-02T03:04:05.678Z', rank: 0, text: 'the last line' }]);
});
