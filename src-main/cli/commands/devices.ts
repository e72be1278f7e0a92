import type { Device } from '../../../core/protocol/machine/devices.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { usableKinds } from '../../processes/native-build.ts';
import { formatBytes } from '../../store/disk-space.ts';
import { exitCodes } from '../exit-codes.ts';
import { withHub } from '../open-hub.ts';
import { renderTable } from '../table.ts';

const columns = [
  { title: 'device' },
  { title: 'name' },
  { title: 'memory', right: true },
  { title: 'load', right: true },
  { title: 'processes', right: true },
  { title: 'usable' },
];

/** `tutti devices`: what this machine has to train on. @returns the exit code */
export function listDevices(options: { json?: boolean }): Promise<number> {
  return withHub(async (hub) => {
    const { devices, notes } = await hub.devices();
    const lines = options.json
      ? [toJson({ devices: devices.map((device) => ({ ...device, usable: isUsable(device) })), notes })]
      : [...renderTable(columns, devices.map(describeDevice)), ...notes.map((note) => `note: ${note}`)];
    process.stdout.write(`${lines.join('\n')}\n`);
    return exitCodes.finished;
  });
}

/** Whether a backend of this build computes on it. */
export function isUsable({ kind, unusable }: Device): boolean {
  return unusable === undefined && usableKinds().includes(kind);
}

/** Whether a device can be used; if not, why and what to do. */
export function describeUse(device: Device): string {
  if (isUsable(device)) return device.kind === 'webgpu-cpu' ? 'if named: it computes on the CPU' : 'yes';
  if (device.unusable !== undefined) return `no: ${device.unusable}`;
  if (device.kind === 'rocm' && usableKinds().includes('webgpu')) return 'as its webgpu device';
  const option = device.kind === 'cuda' ? '--gpu' : '--webgpu';
  return `no backend in this build: npm run setup:native -- ${option}`;
}

/** The cells of a device's row; `-` for what it does not tell. */
export function describeDevice(device: Device): string[] {
  const { id, name, memoryTotalBytes, memoryUsedBytes, load, processCount } = device;
  return [
    id,
    name,
    memoryTotalBytes === null ? '-' : `${formatBytes(memoryUsedBytes ?? 0)} of ${formatBytes(memoryTotalBytes)}`,
    load === null ? '-' : `${Math.round(load * 100)} %`,
    processCount === null ? '-' : String(processCount),
    describeUse(device),
  ];
}
