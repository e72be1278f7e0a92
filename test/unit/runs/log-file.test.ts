import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LogFile } from '../../../src-main/runs/recording/log-file.ts';
import { temporaryFolder } from '../store/fixtures.ts';

const failOn = (error: Error): void => {
  throw error;
};

it('keeps every line with its time across attempts, and remembers the last twelve', async () => {
  const folder = join(await temporaryFolder(), 'logs');
  const first = new LogFile(folder, 3, failOn);
  for (let line = 1; line <= 15; line++) first.write(`line ${line}`);
  await first.close();
  expect(first.lastLines()).toEqual(Array.from({ length: 12 }, (_, i) => `line ${i + 4}`));
  const second = new LogFile(folder, 3, failOn);
  second.write('line 16');
  await second.close();
  const lines = (await readFile(join(folder, 'rank-3.log'), 'utf8')).trimEnd().split('\n');
  expect(lines).toHaveLength(16);
  expect(lines[15]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z line 16$/);
});
