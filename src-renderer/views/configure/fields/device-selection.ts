import type { Device } from '../../../../core/protocol/machine/devices.ts';

/** Selections with a fixed meaning. Any other selection is a count or a list of devices. */
export const deviceModes = ['auto', 'all', 'idle', 'cpu', 'gpu'] as const;
export type DeviceMode = (typeof deviceModes)[number] | 'named';

export const deviceModeHelp: Record<DeviceMode, string> = {
  auto: 'GPUs that a backend can use, else CPU cores',
  all: 'The same as auto: every device of the best kind',
  idle: 'Only devices that no other process uses',
  cpu: 'CPU cores',
  gpu: 'GPUs',
  named: 'Devices by name or number',
};

export function modeOf(selection: unknown): DeviceMode {
  const text = String(selection).trim().toLowerCase();
  return deviceModes.find((mode) => mode === text) ?? 'named';
}

/** Whether a selection without a kind includes the device: neither CPU cores nor WebGPU on the CPU, which must be named. */
export function isGpu({ kind, unusable }: Device): boolean {
  return kind !== 'cpu' && kind !== 'webgpu-cpu' && unusable === undefined;
}

/** Ids of the devices that a selection names: `cuda:0,1` names `cuda:0` and `cuda:1`. Indices without a kind belong to the best kind. */
export function namedDevices(selection: unknown, devices: readonly Device[]): Set<string> {
  const text = Array.isArray(selection) ? selection.join(',') : String(selection);
  if (!/[,:]/.test(text) && !Array.isArray(selection)) return new Set();
  let kind: string = devices.find(isGpu)?.kind ?? 'cpu';
  const ids = text.split(',').flatMap((item) => {
    const [, itemKind, index] = /^\s*(?:([a-z-]+)\s*:)?\s*(\d+)\s*$/i.exec(item) ?? [];
    if (index === undefined) return [];
    kind = itemKind?.toLowerCase() ?? kind;
    return [`${kind}:${index}`];
  });
  return new Set(ids.filter((id) => devices.some((device) => device.id === id)));
}

/** The selection that names these devices, all of one kind: `cpu:0,1`; null for none. */
export function selectionOf(chosen: readonly Device[]): string | null {
  if (chosen.length === 0) return null;
  const indices = chosen.map(({ index }) => index).sort((a, b) => a - b);
  return `${chosen[0].kind}:${indices.join(',')}`;
}

/** The selection after a device is ticked or unticked. A run trains on one kind of device, so devices of another kind are dropped. */
export function toggleDevice(selection: unknown, device: Device, devices: readonly Device[]): string | null {
  const named = namedDevices(selection, devices);
  if (!named.delete(device.id)) named.add(device.id);
  return selectionOf(devices.filter(({ id, kind }) => named.has(id) && kind === device.kind));
}
