import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { appendLoads, DeviceLoadsTail } from '../../../src-main/store/metrics/device-loads.ts';

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-loads-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const [first, second] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z'];
const cpu = { device: 'cpu:0', load: 0.25, memoryUsedBytes: null };
const gpu = { device: 'cuda:0', load: null, memoryUsedBytes: 4096 };

it('a sample is one line per device and reads back unchanged', async () => {
  const folder = await emptyFolder();
  await appendLoads(folder, { time: first, loads: [cpu, gpu] });
  expect(await readFile(join(folder, 'devices.csv'), 'utf8')).toBe(
    `time,device,load,memory_bytes\n${first},cpu:0,0.250,\n${first},cuda:0,,4096\n`,
  );
  const tail = new DeviceLoadsTail(folder);
  expect(await tail.read()).toEqual([{ time: first, loads: [cpu, gpu] }]);
  await appendLoads(folder, { time: second, loads: [{ ...cpu, load: 1 }] });
  expect(await tail.read()).toEqual([{ time: second, loads: [{ ...cpu, load: 1 }] }]);
  const start = Date.parse(first);
  expect(tail.columns).toEqual([
    {
      device: 'cpu:0',
      timeMs: Float64Array.of(start, start + 1000),
      load: Float64Array.of(0.25, 1),
      memoryBytes: Float64Array.of(NaN, NaN),
    },
    {
      device: 'cuda:0',
      timeMs: Float64Array.of(start),
      load: Float64Array.of(NaN),
      memoryBytes: Float64Array.of(4096),
    },
  ]);
});

it('a line truncated inside a number is not read as complete', async () => {
  const folder = await emptyFolder();
  await appendLoads(folder, { time: first, loads: [cpu] });
  await appendFile(join(folder, 'devices.csv'), `${first},cuda:0,0.5,40`);
  await appendLoads(folder, { time: second, loads: [cpu] });
  expect(await new DeviceLoadsTail(folder).read()).toEqual([
    { time: first, loads: [cpu] },
    { time: second, loads: [cpu] },
  ]);
});

it('a run without loads has no samples', async () => {
  const tail = new DeviceLoadsTail(await emptyFolder());
  expect(await tail.read()).toEqual([]);
  expect(tail.columns).toEqual([]);
});
