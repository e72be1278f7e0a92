import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeFileAtomic } from '../../../../core/node/atomic-file.ts';
import { readOwnText } from '../../../../core/node/own-files.ts';
import { LogFile } from '../../../../src-main/runs/recording/log-file.ts';
import { appendLoads } from '../../../../src-main/store/metrics/device-loads.ts';
import { MetricsFile } from '../../../../src-main/store/metrics/metrics-file.ts';
import { appendEvent } from '../../../../src-main/store/runs/run-folder.ts';
import { temporaryFolder } from '../fixtures.ts';

it('a file is read while it is replaced again and again, and never taken for a link', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'run.json');
  await writeFileAtomic(path, 'old');
  const reading = new AbortController();
  const writing = (async () => {
    while (!reading.signal.aborted) await writeFileAtomic(path, 'new');
  })();
  const texts = new Set<string>();
  for (let read = 0; read < 2000; read += 1) texts.add(await readOwnText(folder, 'run.json'));
  reading.abort();
  await writing;
  expect([...texts].filter((text) => text !== 'old' && text !== 'new')).toEqual([]);
});

/** Only root may, and not in every container. */
const mayMakeDevices = (() => {
  const folder = mkdtempSync(join(tmpdir(), 'tutti-device-'));
  const made = spawnSync('mknod', [join(folder, 'null'), 'c', '1', '3']).status === 0;
  rmSync(folder, { recursive: true });
  return made;
})();

/** What writes to a file of a run, by the file's path in the run's folder. */
const writers: Record<string, (folder: string) => Promise<unknown>> = {
  'events.jsonl': (folder) =>
    appendEvent(folder, {
      time: '2026-11-27T12:00:00.000Z',
      rank: null,
      epoch: null,
      step: null,
      attempt: 1,
      kind: 'note',
      data: {},
      message: 'x',
    }),
  'devices.csv': (folder) =>
    appendLoads(folder, {
      time: '2026-11-27T12:00:00.000Z',
      loads: [{ device: 'cpu:0', load: 0.5, memoryUsedBytes: 1 }],
    }),
  'metrics.csv': async (folder) => {
    const file = await MetricsFile.open(join(folder, 'metrics.csv'));
    await file.append([{ epoch: 0, step: 1, values: new Map([['train/loss', 1]]) }]);
  },
  'logs/rank-0.log': async (folder) => {
    const failure = Promise.withResolvers<never>();
    const log = new LogFile(join(folder, 'logs'), 0, { onError: failure.reject });
    log.write('secret');
    await Promise.race([log.close(), failure.promise]);
    await log.close();
  },
};

describe.each(Object.keys(writers))('%s', (path) => {
  const content = 'epoch,step\n'.repeat(3);
  const plants: Record<string, (at: string, outside: string) => void> = {
    'a link to a file': (at, outside) => symlinkSync(outside, at),
    'a link to nothing': (at, outside) => symlinkSync(`${outside}-absent`, at),
    'a named pipe': (at) => void execFileSync('mkfifo', [at]),
    ...(mayMakeDevices && { 'a device': (at) => void execFileSync('mknod', [at, 'c', '1', '3']) }),
  };

  it.each(Object.keys(plants))('is neither read nor written through %s, and nothing waits', async (plant) => {
    const [folder, elsewhere] = [await temporaryFolder(), await temporaryFolder()];
    const outside = join(elsewhere, 'profile');
    writeFileSync(outside, content);
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    plants[plant](join(folder, path), outside);
    await expect(writers[path](folder)).rejects.toThrow(/was not opened: it is (a symbolic link|not a regular file)/);
    expect(readFileSync(outside, 'utf8')).toBe(content);
    expect(readdirSync(elsewhere)).toEqual(['profile']);
  });

  it('is written where the run itself is reached through a link', async () => {
    const folder = await temporaryFolder();
    const link = `${folder}-link`;
    symlinkSync(folder, link);
    await writers[path](link);
    expect(readFileSync(join(folder, path), 'utf8')).not.toBe('');
    rmSync(link);
  });
});

it('a log is not written where a link to another folder is in the place of logs', async () => {
  const [folder, elsewhere] = [await temporaryFolder(), await temporaryFolder()];
  symlinkSync(elsewhere, join(folder, 'logs'));
  await expect(writers['logs/rank-0.log'](folder)).rejects.toThrow('a symbolic link leads there');
  expect(readdirSync(elsewhere)).toEqual([]);
});
