import type { Device } from '../../../../core/protocol/machine/devices.ts';

/** Ways to choose devices that stand for themselves; anything else names a count or devices. */
export const deviceModes = ['auto', 'all', 'idle', 'cpu', 'gpu'] as const;
export type DeviceMode = (typeof deviceModes)[number] | 'named';

export const deviceModeHelp: Record<DeviceMode, string> = {
  auto: 'GPUs if a backend can use them, else CPU cores',
  all: 'The same as auto: every device of the best kind',
  idle: 'Only devices that no other process uses',
  cpu: 'CPU cores',
  gpu: 'GPUs',
  named: 'Devices by name, or how many',
};

export function modeOf(selection: unknown): DeviceMode {
  const text = String(selection).trim().toLowerCase();
  return deviceModes.find((mode) => mode === text) ?? 'named';
}

/** Whether selections that name no kind can mean it: not CPU cores, nor WebGPU on the CPU, which is only meant where it is named. */
export function isGpu({ kind, unusable }: Device): boolean {
  return kind !== 'cpu' && kind !== 'webgpu-cpu' && unusable === undefined;
}

/** Ids of the devices that a selection names: `cuda:0,1` names `cuda:0` and `cuda:1`. Indices without a kind are of the best. */
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

/** Devices after one was ticked or unticked. A run trains on devices of one kind, so those of another kind go. */
export function toggleDevice(selection: unknown, device: Device, devices: readonly Device[]): string | null {
  const named = namedDevices(selection, devices);
  if (!named.delete(device.id)) named.add(device.id);
  return selectionOf(devices.filter(({ id, kind }) => named.has(id) && kind === device.kind));
}
