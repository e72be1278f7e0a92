import { messageOf } from '../../../core/text/errors.ts';
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
export function isUsable(device: Device): boolean {
  return whyUnusable(device) === null;
}

/** Whether a device can be used; if not, why and what to do. */
export function describeUse(device: Device): string {
  const reason = whyUnusable(device);
  if (reason !== null) return reason;
  return device.kind === 'webgpu-cpu' ? 'if named: it computes on the CPU' : 'yes';
}

/** Why a device cannot be used, and what to do; null where it can. A damaged build is a reason, too. */
function whyUnusable({ kind, unusable }: Device): string | null {
  if (unusable !== undefined) return `no: ${unusable}`;
  if (kind === 'cpu') return null;
  try {
    const kinds = usableKinds();
    if (kinds.includes(kind)) return null;
    if (kind === 'rocm' && kinds.includes('webgpu')) return 'as its webgpu device';
  } catch (error) {
    return `no: ${messageOf(error)}`;
  }
  return `no backend in this build: npm run setup:native -- ${kind === 'cuda' ? '--gpu' : '--webgpu'}`;
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
