import type { CpuInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { Device } from '../../../core/protocol/machine/devices.ts';
import { loadReader } from '../../../src-main/devices/loads.ts';
import { nvidiaQueries, replay, twoA100s } from './recordings.ts';

const mebibyte = 1_048_576;

function device(kind: Device['kind'], index: number): Device {
  const unknown = { memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };
  return { id: `${kind}:${index}`, kind, index, name: 'a device', ...unknown };
}

/** Busy and idle times of cores in ms since the start, one reading after the other. */
function coresThatRead(readings: [busy: number, idle: number][][], count: number) {
  const infos = readings.map((cores) =>
    cores.map(([user, idle]): CpuInfo => ({ model: 'core', speed: 0, times: { user, idle, nice: 0, sys: 0, irq: 0 } })),
  );
  return { count, read: () => infos.shift() ?? [] };
}

describe('loads of cores', () => {
  it('are the busy share of the time since the previous reading, only for devices in use', async () => {
    const none: [number, number][] = [
      [0, 0],
      [0, 0],
    ];
    const cores = coresThatRead(
      [
        none,
        none,
        [
          [10, 90],
          [75, 25],
        ],
        [
          [60, 140],
          [75, 125],
        ],
      ],
      2,
    );
    const read = loadReader([device('cpu', 1)], { cores });
    expect((await read()).loads).toEqual([{ device: 'cpu:1', load: null, memoryUsedBytes: null }]);
    expect((await read()).loads).toEqual([{ device: 'cpu:1', load: 0.75, memoryUsedBytes: null }]);
    expect((await read()).loads).toEqual([{ device: 'cpu:1', load: 0, memoryUsedBytes: null }]);
  });

  it('are unknown if this process may not use all cores', async () => {
    const cores = coresThatRead([[[0, 0]], [[1, 1]], [[2, 2]]], 4);
    const read = loadReader([device('cpu', 0)], { cores });
    await read();
    expect((await read()).loads[0].load).toBeNull();
  });
});

describe('loads of NVIDIA GPUs', () => {
  const gpu = [device('cuda', 1), device('cuda', 0)];
  const cores = { count: 0, read: () => [] };

  it('come with their memory, in the requested order, from the second reading on', async () => {
    const read = loadReader(gpu, { run: replay({ [nvidiaQueries.gpus]: twoA100s }), cores });
    const first = await read();
    expect(first.loads.map(({ load, memoryUsedBytes }) => [load, memoryUsedBytes])).toEqual([
      [null, null],
      [null, null],
    ]);
    expect((await read()).loads).toEqual([
      { device: 'cuda:1', load: 0, memoryUsedBytes: 4 * mebibyte },
      { device: 'cuda:0', load: 0.97, memoryUsedBytes: 36537 * mebibyte },
    ]);
  });

  it('are unknown, with the reason, if nvidia-smi fails', async () => {
    const read = loadReader([device('cuda', 0)], { run: replay({}), cores });
    await read();
    const { loads, notes } = await read();
    expect(loads).toEqual([{ device: 'cuda:0', load: null, memoryUsedBytes: null }]);
    expect(notes).toEqual(['nvidia-smi was not found. The loads of GPUs are unknown.']);
  });

  it('need no query if no GPU is in use', async () => {
    const asked: string[] = [];
    const run = (command: string) => {
      asked.push(command);
      return Promise.resolve({ status: 'absent' as const });
    };
    await loadReader([device('cpu', 0)], { run, cores })();
    expect(asked).toEqual([]);
  });
});
