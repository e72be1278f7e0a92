import type { Device, Placement } from '../../../core/protocol/machine/devices.ts';
import { formatBytes, unknownText } from '../../../core/text/numbers.ts';

/** A device of the plan and the ranks that it trains, by wave. */
interface PlannedDevice {
  device: Device;
  /** The most threads of one of its workers. */
  threads: number;
  waves: {
    wave: number;
    /** Ranks by worker. A worker trains its ranks as one computation. */
    workers: number[][];
  }[];
}

/** The most ranks that the device trains at the same time, in any wave. */
export function ranksAtOnce({ waves }: PlannedDevice): number {
  return Math.max(0, ...waves.map(({ workers }) => workers.flat().length));
}

/** The plan by device, in the order of their first ranks. */
export function plannedDevices(plan: readonly Placement[]): PlannedDevice[] {
  const byDevice = Map.groupBy(plan, ({ device }) => device.id);
  return [...byDevice.values()].map((placements) => ({
    device: placements[0].device,
    threads: Math.max(...placements.map(({ threads = 1 }) => threads)),
    waves: [...Map.groupBy(placements, ({ wave }) => wave)]
      .sort(([a], [b]) => a - b)
      .map(([wave, ofWave]) => ({ wave, workers: ranksByWorker(ofWave) })),
  }));
}

function ranksByWorker(placements: readonly Placement[]): number[][] {
  const workers = Map.groupBy(placements, ({ rank, stack }) => stack ?? `rank ${rank}`);
  return [...workers.values()].map((ofWorker) => ofWorker.map(({ rank }) => rank));
}

/** A device's memory in words and as a bar. */
interface MemoryText {
  /** `6 GiB free of 8 GiB`, as far as the device says so. */
  text: string;
  /** The length of a bar, 0 to 1; null where it is not known. */
  usedShare: number | null;
  /** Why something is not known; undefined where all is. */
  why: string | undefined;
}

/**
 * What a plan needs of a device's memory, in words and as a share of the device's.
 * @param leastRankBytes of each rank; null where it is not known
 */
export function describeNeed(
  { memoryUsedBytes, memoryTotalBytes }: Pick<Device, 'memoryUsedBytes' | 'memoryTotalBytes'>,
  ranks: number,
  leastRankBytes: number | null,
): { text: string; share: number; isTooMuch: boolean } | null {
  if (leastRankBytes === null) return null;
  const bytes = ranks * leastRankBytes;
  const text = `needs at least ${formatBytes(bytes)}`;
  if (memoryTotalBytes === null) return { text, share: 0, isTooMuch: false };
  return { text, share: bytes / memoryTotalBytes, isTooMuch: bytes > memoryTotalBytes - (memoryUsedBytes ?? 0) };
}

/** Cores have no memory for themselves, and not every driver says how much of a device's is in use. */
export function describeMemory({
  memoryUsedBytes,
  memoryTotalBytes,
}: Pick<Device, 'memoryUsedBytes' | 'memoryTotalBytes'>): MemoryText {
  if (memoryTotalBytes === null) {
    return { text: unknownText, usedShare: null, why: "it shares the machine's memory" };
  }
  const total = formatBytes(memoryTotalBytes);
  if (memoryUsedBytes === null) {
    return { text: `${unknownText} of ${total}`, usedShare: null, why: 'its driver does not say how much is in use' };
  }
  const free = formatBytes(Math.max(0, memoryTotalBytes - memoryUsedBytes));
  return { text: `${free} free of ${total}`, usedShare: memoryUsedBytes / memoryTotalBytes, why: undefined };
}

/** Selections with a fixed meaning. Any other selection is a count or a list of devices. */
export const deviceModes = ['auto', 'all', 'idle', 'cpu', 'gpu'] as const;
type DeviceMode = (typeof deviceModes)[number] | 'named';

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

/**
 * Whether a selection without a kind includes the device: neither CPU cores nor WebGPU on the CPU, which must be named.
 */
export function isGpu({ kind, unusable }: Device): boolean {
  return kind !== 'cpu' && kind !== 'webgpu-cpu' && unusable === undefined;
}

/**
 * Ids of the devices that a selection names: `cuda:0,1` names `cuda:0` and `cuda:1`. Indices without a kind belong to
 * the best kind.
 */
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
function selectionOf(chosen: readonly Device[]): string | null {
  if (chosen.length === 0) return null;
  const indices = chosen.map(({ index }) => index).sort((a, b) => a - b);
  return `${chosen[0].kind}:${indices.join(',')}`;
}

/**
 * The selection after a device is ticked or unticked. A run trains on one kind of device, so devices of another kind
 * are dropped.
 */
export function toggleDevice(selection: unknown, device: Device, devices: readonly Device[]): string | null {
  const named = namedDevices(selection, devices);
  if (!named.delete(device.id)) named.add(device.id);
  return selectionOf(devices.filter(({ id, kind }) => named.has(id) && kind === device.kind));
}
