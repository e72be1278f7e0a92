import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { whenThereIsRoom } from '../../../core/node/disk-room.ts';
import { FaultyDisk } from '../../faults/faulty-disk.ts';
import { LogFile } from '../../../src-main/runs/recording/log-file.ts';
import { temporaryFolder } from '../store/fixtures.ts';

const failOn = (error: Error): void => {
  throw error;
};

it('keeps every line with its time across attempts, and remembers the last twelve', async () => {
  const folder = join(await temporaryFolder(), 'logs');
  const first = new LogFile(folder, 3, { onError: failOn });
  for (let line = 1; line <= 15; line++) first.write(`line ${line}`);
  await first.close();
  expect(first.lastLines()).toEqual(Array.from({ length: 12 }, (_, i) => `line ${i + 4}`));
  const second = new LogFile(folder, 3, { onError: failOn });
  second.write('line 16');
  await second.close();
  const lines = (await readFile(join(folder, 'rank-3.log'), 'utf8')).trimEnd().split('\n');
  expect(lines).toHaveLength(16);
  expect(lines[15]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z line 16$/);
});

it('waits for room on a full disk, holds up no worker, and says how many lines were left out', async () => {
  const folder = await temporaryFolder();
  const disk = FaultyDisk.install(folder);
  onTestFinished(() => disk.remove());
  disk.fault = ({ isWrite }) => (isWrite ? { code: 'ENOSPC', half: true } : null);
  const pauses: (() => void)[] = [];
  const log = new LogFile(folder, 0, {
    onError: failOn,
    whenThereIsRoom: (write) =>
      whenThereIsRoom(write, {
        onFull: () => undefined,
        onRoom: () => undefined,
        isAbandoned: () => false,
        pause: () => new Promise<void>((resolve) => pauses.push(resolve)),
      }),
  });
  log.write('first');
  await expect.poll(() => pauses.length).toBe(1);
  const long = 'x'.repeat(2 ** 20);
  for (const line of [long, 'left out', 'left out too']) log.write(line);
  await log.drained();
  disk.fault = () => null;
  for (const go of pauses) go();
  await log.close();
  const lines = (await readFile(join(folder, 'rank-0.log'), 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => line.slice(25))).toEqual([
    'first',
    long,
    '(hub) 2 lines were left out: the disk was full.',
  ]);
});
