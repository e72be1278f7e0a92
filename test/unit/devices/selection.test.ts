import { describe, expect, it } from 'vitest';
import type { Device, DeviceSelection } from '../../../core/protocol/machine/devices.ts';
import { selectDevices } from '../../../src-main/devices/selection.ts';

function device(kind: Device['kind'], index: number, facts: Partial<Device> = {}): Device {
  const unknown = { memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };
  return { id: `${kind}:${index}`, kind, index, name: `${kind} device`, ...unknown, ...facts };
}

const cores = [0, 1, 2, 3].map((index) => device('cpu', index));
const gpus = [0, 1, 2].map((index) => device('cuda', index, { name: 'NVIDIA A40' }));

function select(selection: DeviceSelection, available = cores, usable: Device['kind'][] = ['cpu']): string[] {
  return selectDevices(selection, available, usable).map(({ id }) => id);
}

describe("selectDevices accepts Lightning's forms", () => {
  // As in Lightning's tests/tests_fabric/utilities/test_device_parser.py, with cores in place of GPUs.
  it.each<[DeviceSelection, number[]]>([
    [1, [0]],
    [3, [0, 1, 2]],
    [-1, [0, 1, 2, 3]],
    [[0], [0]],
    [
      [1, 3],
      [1, 3],
    ],
    ['3', [0, 1, 2]],
    ['1, 3', [1, 3]],
    ['2,', [2]],
    ['-1', [0, 1, 2, 3]],
    ['0,2', [0, 2]],
    [' 0 , 2 ', [0, 2]],
    [
      [3, 1],
      [3, 1],
    ],
    ['0,,2', [0, 2]],
    [' 2 ', [0, 1]],
  ])('%j', (selection, indices) => {
    expect(select(selection)).toEqual(indices.map((index) => `cpu:${index}`));
  });

  it.each<DeviceSelection>([0.1, -2, [-1], [0, 0], [0.5], NaN, Infinity, 0, '0', [], '', ',', '1, ,2', '-1,', '1.5'])(
    'refuses %j',
    (selection) => expect(() => select(selection)).toThrow(/^devices .+: .+\./),
  );
});

describe('selectDevices by kind', () => {
  it.each(['all', 'auto', 'AUTO', 'cpu', 'idle'])('%s: all cores', (selection) => {
    expect(select(selection)).toEqual(['cpu:0', 'cpu:1', 'cpu:2', 'cpu:3']);
  });

  it.each([
    ['cpu:0,1', ['cpu:0', 'cpu:1']],
    ['cpu:2', ['cpu:2']],
    ['cpu:3,cpu:1', ['cpu:3', 'cpu:1']],
    ['cpu: 1', ['cpu:1']],
  ])('%s', (selection, ids) => expect(select(selection)).toEqual(ids));

  it('takes GPUs before cores if a backend supports them', () => {
    const machine = [...gpus, ...cores];
    const usable: Device['kind'][] = ['cuda', 'cpu'];
    expect(select('auto', machine, usable)).toEqual(['cuda:0', 'cuda:1', 'cuda:2']);
    expect(select('gpu', machine, usable)).toEqual(['cuda:0', 'cuda:1', 'cuda:2']);
    expect(select('cuda:2,0', machine, usable)).toEqual(['cuda:2', 'cuda:0']);
    expect(select('gpu:1', machine, usable)).toEqual(['cuda:1']);
    expect(select([1], machine, usable)).toEqual(['cuda:1']);
    expect(select('cpu:1', machine, usable)).toEqual(['cpu:1']);
    expect(select('auto', machine, ['cpu'])).toEqual(['cpu:0', 'cpu:1', 'cpu:2', 'cpu:3']);
    expect(() => select('cuda:0,cpu:1', machine, usable)).toThrow(
      'devices "cuda:0,cpu:1": cuda:0 and cpu:1 need different backends. Name devices of one kind.',
    );
  });
});

describe('WebGPU adapters', () => {
  const adapters = [0, 1].map((index) => device('webgpu', index));
  const software = device('webgpu-cpu', 0);
  const machine = [...gpus, ...adapters, device('rocm', 0), ...cores, software];
  const usable: Device['kind'][] = ['webgpu', 'webgpu-cpu', 'cpu'];

  it('come after CUDA and before cores', () => {
    expect(select('auto', machine, ['cuda', ...usable])).toEqual(['cuda:0', 'cuda:1', 'cuda:2']);
    expect(select('auto', machine, usable)).toEqual(['webgpu:0', 'webgpu:1']);
    expect(select('gpu:1', machine, usable)).toEqual(['webgpu:1']);
  });

  it('that compute on the CPU must be named', () => {
    const without = [software, ...cores];
    expect(select('auto', without, usable)).toEqual(['cpu:0', 'cpu:1', 'cpu:2', 'cpu:3']);
    expect(select('webgpu-cpu:0', without, usable)).toEqual(['webgpu-cpu:0']);
    expect(() => select('auto', without, ['webgpu', 'webgpu-cpu'])).toThrow(
      'devices "auto": the webgpu backend does not compute on CPU cores; there is webgpu-cpu:0, to be named, ' +
        'as it computes on the CPU.',
    );
  });

  it('that cannot be distinguished are omitted, with the reason', () => {
    const twins = [adapters[0], { ...adapters[1], unusable: 'it has the name of another' }];
    expect(select('auto', twins, usable)).toEqual(['webgpu:0']);
    expect(() => select('webgpu:1', twins, usable)).toThrow(
      'devices "webgpu:1": device 1 cannot be used: it has the name of another; there is webgpu:0.',
    );
  });
});

describe('idle', () => {
  const gibibyte = 2 ** 30;
  const memory = (used: number) => ({ memoryTotalBytes: 80 * gibibyte, memoryUsedBytes: used * gibibyte });

  it('skips devices with other processes, memory in use, or load', () => {
    const machine = [
      device('cuda', 0, { ...memory(0.5), load: 0, processCount: 0 }),
      device('cuda', 1, { ...memory(0.5), load: 0, processCount: 1 }),
      device('cuda', 2, { ...memory(40), load: 0, processCount: null }),
      device('cuda', 3, { ...memory(0.5), load: 0.9, processCount: 0 }),
      device('cuda', 4),
    ];
    expect(select('idle', machine, ['cuda'])).toEqual(['cuda:0', 'cuda:4']);
  });

  it('fails if every device is in use', () => {
    const busy = [device('cpu', 0, { load: 1 }), device('cpu', 1, { load: 0.5 })];
    expect(() => select('idle', busy)).toThrow(
      'devices "idle": other processes use every device (cpu:0, cpu:1). Wait, or name devices to share.',
    );
  });
});

describe('wrong selections name what exists', () => {
  const two = cores.slice(0, 2);
  const many = Array.from({ length: 64 }, (_, index) => device('cpu', index));

  it.each<[DeviceSelection, Device[], string]>([
    [[5], two, 'devices [5]: there is no device 5; there are cpu:0, cpu:1.'],
    ['cpu:2', two, 'devices "cpu:2": there is no device 2; there are cpu:0, cpu:1.'],
    ['64,', many, 'devices "64,": there is no device 64; there are cpu:0 to cpu:63.'],
    [3, two, 'devices "3": 3 devices asked for; there are cpu:0, cpu:1. Ask for 2 at most'],
    ['1,1', two, 'devices "1,1": cpu:1 is named twice. Name each device once.'],
    [0, two, 'devices "0": a run needs at least one device. Give a count of 1 or more.'],
    ['cpus', two, 'devices "cpus": this does not select devices. Use a count (2), indices (0,2 or 2,), all or -1'],
    ['tpu:0', two, 'devices "tpu:0": "tpu:0" names no device. Give a count'],
    ['gpu', two, 'devices "gpu": this machine has no such device; there are cpu:0, cpu:1.'],
    [2, [], 'devices "2": this machine has no such device; there are none.'],
    [
      'cuda:0',
      [gpus[0], ...two],
      'devices "cuda:0": found cuda:0 (NVIDIA A40), but there is no CUDA backend. Run npx tutti setup --gpu, or ' +
        'npx tutti setup --webgpu, which lists it as webgpu device. For the backends that are there, there are cpu:0, cpu:1.',
    ],
    [
      'gpu',
      [device('rocm', 0, { name: 'Radeon RX 7900 XT' }), cores[0]],
      'found rocm:0 (Radeon RX 7900 XT), but there is no ROCm backend. Run npx tutti setup --webgpu, which ' +
        'lists it as webgpu device. For the backends that are there, there is cpu:0.',
    ],
  ])('%j', (selection, available, message) => {
    expect(() => select(selection, available)).toThrow(message);
  });
});
