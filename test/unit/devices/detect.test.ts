import type { CpuInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { commandRunner } from '../../../src-main/processes/command.ts';
import { detectDevices } from '../../../src-main/devices/detect.ts';
import {
  exited,
  migA100,
  nvidiaQueries,
  oldGeForce,
  radeon7900,
  replay,
  rocmProcesses,
  twoA100s,
  twoMi250s,
} from './recordings.ts';

const noCores = { count: 0, read: () => [] };
const mebibyte = 1_048_576;

const noAdapters = { list: () => Promise.resolve(null), pciAddresses: () => Promise.resolve([]) };

function detect(recordings: Parameters<typeof replay>[0]) {
  return detectDevices({ run: replay(recordings), cores: noCores, adapters: noAdapters });
}

describe('NVIDIA GPUs', () => {
  it('have memory in bytes, load from 0 to 1, and each process counted once', async () => {
    const processes = `GPU-7fdaf0a5-179b-f636-d15d-daf243e3ff16, 4054862
GPU-7fdaf0a5-179b-f636-d15d-daf243e3ff16, 4055325
GPU-7fdaf0a5-179b-f636-d15d-daf243e3ff16, 4055325
`;
    const { devices } = await detect({ [nvidiaQueries.gpus]: twoA100s, [nvidiaQueries.processes]: processes });
    expect(devices).toEqual([
      {
        id: 'cuda:0',
        kind: 'cuda',
        index: 0,
        name: 'NVIDIA A100-SXM4-80GB',
        memoryTotalBytes: 81920 * mebibyte,
        memoryUsedBytes: 36537 * mebibyte,
        load: 0.97,
        processCount: 2,
      },
      {
        id: 'cuda:1',
        kind: 'cuda',
        index: 1,
        name: 'NVIDIA A100-SXM4-80GB',
        memoryTotalBytes: 81920 * mebibyte,
        memoryUsedBytes: 4 * mebibyte,
        load: 0,
        processCount: 0,
      },
    ]);
  });

  it('have null for unsupported values, and the note names processes on MIG instances', async () => {
    const stray = 'MIG-feb88891-0321-5fef-9c87-d4af3b54259e, 4054862\n';
    const mig = await detect({ [nvidiaQueries.gpus]: migA100, [nvidiaQueries.processes]: stray });
    expect(mig.devices[0]).toMatchObject({ load: null, processCount: 0, memoryUsedBytes: 36537 * mebibyte });
    expect(mig.notes.join()).toContain('no listed GPU: "MIG-feb88891-0321-5fef-9c87-d4af3b54259e, 4054862"');
    const old = await detect({ [nvidiaQueries.gpus]: oldGeForce, [nvidiaQueries.processes]: '' });
    expect(old.devices[0]).toMatchObject({ name: 'GeForce GT 710', load: null, processCount: 0 });
  });

  it('leave processes unknown with a note if only that query fails', async () => {
    const failing = exited(2, '', 'Invalid combination of input arguments. Please run nvidia-smi -h for help.');
    const { devices, notes } = await detect({ [nvidiaQueries.gpus]: twoA100s, [nvidiaQueries.processes]: failing });
    expect(devices.map((device) => device.processCount)).toEqual([null, null]);
    expect(notes).toContain(
      'nvidia-smi failed with exit code 2: Invalid combination of input arguments. Please run nvidia-smi -h for help.' +
        ' Other processes on the GPUs cannot be seen.',
    );
  });

  it.each([
    [{ status: 'absent' } as const, 'nvidia-smi was not found.'],
    [{ status: 'timed-out', timeoutMs: 15000 } as const, 'nvidia-smi did not answer within 15000 ms.'],
    [
      exited(9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\nMake sure\n"),
      "nvidia-smi failed with exit code 9: NVIDIA-SMI has failed because it couldn't " +
        'communicate with the NVIDIA driver.',
    ],
    [
      exited(18, 'Failed to initialize NVML: Driver/library version mismatch\n'),
      'nvidia-smi failed with exit code 18: Failed to initialize NVML: Driver/library version mismatch',
    ],
    [exited(0, 'No devices were found\n'), 'no description of a GPU: "No devices were found"'],
    [exited(0, '<html>, , , , ,\n'), 'no description of a GPU: "<html>, , , , , "'],
  ])('are empty with a note on the reason: %j', async (result, note) => {
    const { devices, notes } = await detect({ 'nvidia-smi': result });
    expect(devices).toEqual([]);
    expect(notes[0]).toContain(note);
  });

  it('are kept if one line among them is garbage', async () => {
    const lost = `Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost.\n${twoA100s}`;
    const { devices, notes } = await detect({ [nvidiaQueries.gpus]: lost, [nvidiaQueries.processes]: '' });
    expect(devices.map((device) => device.id)).toEqual(['cuda:0', 'cuda:1']);
    expect(notes[0]).toContain('GPU is lost');
  });
});

describe('AMD GPUs', () => {
  it('are read from the JSON of ROCm 6', async () => {
    const idle = 'No KFD PIDs currently running\n';
    const { devices } = await detect({ 'rocm-smi --showid': radeon7900, 'rocm-smi --showpidgpus': idle });
    expect(devices).toEqual([
      {
        id: 'rocm:0',
        kind: 'rocm',
        index: 0,
        name: 'Radeon RX 7900 XT',
        memoryTotalBytes: 21458059264,
        memoryUsedBytes: 27856896,
        load: 0,
        processCount: 0,
      },
    ]);
  });

  it('are read from the JSON of ROCm 5 with warnings around it, each with the processes that use it', async () => {
    const { devices } = await detect({ 'rocm-smi --showid': twoMi250s, 'rocm-smi --showpidgpus': rocmProcesses });
    expect(devices).toMatchObject([
      { id: 'rocm:0', name: 'AMD INSTINCT MI250', load: 0.99, processCount: 2 },
      { id: 'rocm:1', name: '0x0b0c', load: null, processCount: 1 },
    ]);
  });

  it.each([
    ['Segmentation fault', 'rocm-smi gave no readable JSON: "Segmentation fault"'],
    ['{"card0": 3}', 'rocm-smi gave no readable JSON'],
    ['{"system": {"Driver version": "6.3.6"}}', 'rocm-smi lists no AMD GPU.'],
  ])('are empty with a note on the reason: %s', async (output, note) => {
    const { devices, notes } = await detect({ 'rocm-smi': output });
    expect(devices).toEqual([]);
    expect(notes.join('\n')).toContain(note);
  });
});

describe('CPU cores', () => {
  const core = (busyMs: number, idleMs: number): CpuInfo => ({
    model: ' Intel(R) Xeon(R) Processor ',
    speed: 2000,
    times: { user: busyMs, nice: 0, sys: 0, idle: idleMs, irq: 0 },
  });

  it('follow the GPUs, one device each, named by model and without a load unless requested', async () => {
    const { devices } = await detectDevices({
      run: replay({ [nvidiaQueries.gpus]: twoA100s, [nvidiaQueries.processes]: '' }),
      cores: { count: 2, read: () => [core(0, 0), core(0, 0)] },
    });
    expect(devices.map((device) => device.id)).toEqual(['cuda:0', 'cuda:1', 'cpu:0', 'cpu:1']);
    expect(devices[2]).toMatchObject({ name: 'Intel(R) Xeon(R) Processor', load: null, memoryTotalBytes: null });
  });

  it('have as their load the busy share of the window', async () => {
    const readings = [
      [core(100, 100), core(0, 500)],
      [core(130, 110), core(0, 540)],
    ];
    const cores = { count: 2, read: () => readings.shift() ?? [] };
    const { devices } = await detectDevices({ run: replay({}), cores, coreLoadWindowMs: 1 });
    expect(devices.map((device) => device.load)).toEqual([0.75, 0]);
  });

  it('have no load if the process may use only some of them, and a default name if the system has none', async () => {
    const some = { count: 1, read: () => [core(0, 0), core(0, 0)] };
    const [device] = (await detectDevices({ run: replay({}), cores: some, coreLoadWindowMs: 1 })).devices;
    expect(device.load).toBeNull();
    const unknown = { count: 1, read: () => [] };
    expect((await detectDevices({ run: replay({}), cores: unknown })).devices[0].name).toBe('CPU core');
  });
});

describe('commandRunner', () => {
  const run = commandRunner(60_000);

  it('returns exit code and output, and reports a missing program', async () => {
    const script = "console.log('out'); console.error('err'); process.exitCode = 9";
    expect(await run(process.execPath, ['-e', script])).toEqual(exited(9, 'out\n', 'err\n'));
    expect(await run('no-such-program-of-ours', [])).toEqual({ status: 'absent' });
  });

  it('kills a program that hangs', async () => {
    const hang = ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"];
    expect(await commandRunner(200)(process.execPath, hang)).toEqual({ status: 'timed-out', timeoutMs: 200 });
  });

  it('reports a program that cannot be started, or prints without end', async () => {
    const unusable = (reason: string) => ({ status: 'unusable', reason: expect.stringContaining(reason) });
    expect(await run('/dev/null', [])).toEqual(unusable('EACCES'));
    expect(await run(`${process.execPath}/program`, [])).toEqual({ status: 'absent' });
    const endless = ['-e', "const more = () => process.stdout.write('x'.repeat(65536), more); more()"];
    expect(await run(process.execPath, endless)).toEqual(unusable('maxBuffer'));
  });
});
