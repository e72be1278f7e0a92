import type { Device } from '../../protocol/devices.ts';
import { toJson } from '../../protocol/numbers.ts';
import { usableKinds } from '../backends/native-build.ts';
import { formatBytes } from '../store/disk-space.ts';
import { exitCodes } from './exit-codes.ts';
import { withHub } from './open-hub.ts';
import { renderTable } from './table.ts';

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
export function isUsable({ kind }: Device): boolean {
  return usableKinds().some((usable) => usable === kind);
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
    isUsable(device) ? 'yes' : 'no backend in this build',
  ];
}
