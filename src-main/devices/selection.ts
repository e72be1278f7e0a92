import { tutti } from '../../core/text/program.ts';
import type { Device, DeviceSelection } from '../../core/protocol/machine/devices.ts';
import { parseSelection, selectionError } from './selection-form.ts';
import type { DeviceKind, DeviceRequest, Pool } from './selection-form.ts';

/** Kinds of a pool, best first. A selection has devices of one kind, because one backend trains a whole run. */
const poolKinds: Record<Pool, readonly DeviceKind[]> = {
  auto: ['cuda', 'webgpu', 'rocm', 'cpu'],
  gpu: ['cuda', 'webgpu', 'rocm'],
  cuda: ['cuda'],
  webgpu: ['webgpu'],
  rocm: ['rocm'],
  cpu: ['cpu'],
  // It is in no other pool, because it is slower than a core, and is only used if it is named.
  'webgpu-cpu': ['webgpu-cpu'],
};
const apiNames: Record<DeviceKind, string> = {
  cuda: 'CUDA',
  webgpu: 'WebGPU',
  rocm: 'ROCm',
  cpu: 'CPU',
  'webgpu-cpu': 'WebGPU',
};
/** How to set up a backend for a kind. AMD GPUs are then detected as `webgpu` devices. */
const remedies: Partial<Record<DeviceKind, string>> = {
  cuda: ` Run ${tutti} setup --gpu, or ${tutti} setup --webgpu, which lists it as webgpu device.`,
  rocm: ` Run ${tutti} setup --webgpu, which lists it as webgpu device.`,
};

/** A busier device is not idle. A GPU that only draws a display or keeps its driver loaded stays below these limits. */
const idleLimits = { memoryShare: 0.1, load: 0.1 };

type Scope = {
  /** Usable devices of a pool, at least one; throws if there are none. */
  members: (pool: Pool) => Device[];
  /** Why an existing device of a pool cannot be used; undefined if there is no such device. */
  obstacle: (pool: Pool, index: number) => string | undefined;
  fail: (message: string) => never;
};

/**
 * The devices that a selection names, in its order ({@link parseSelection} describes the forms). Counts, indices
 * without a kind, `all`, `auto` and `idle` mean the GPUs if a backend of this build can use them, else the CPU cores.
 *
 * @param usableKinds the kinds that the backends of this build can compute on
 * @throws Error if the selection is malformed, or names a device that does not exist or cannot be used; it lists the
 * devices
 */
export function selectDevices(
  selection: DeviceSelection,
  available: readonly Device[],
  usableKinds: readonly DeviceKind[],
): Device[] {
  const fail = (message: string): never => {
    throw selectionError(selection, message);
  };
  const members = (pool: Pool) =>
    poolMembers(pool, available, usableKinds) ?? fail(explainEmpty(pool, available, usableKinds));
  const obstacle = (pool: Pool, index: number) =>
    available.find((device) => device.index === index && device.unusable !== undefined && isOf(pool, device))?.unusable;
  return choose(parseSelection(selection), { members, obstacle, fail });
}

function choose(request: DeviceRequest, scope: Scope): Device[] {
  if (request.form === 'all') return scope.members(request.pool);
  if (request.form === 'idle') return chooseIdle(scope);
  return request.form === 'count' ? chooseFirst(request.count, scope) : chooseNamed(request.items, scope);
}

function chooseIdle({ members, fail }: Scope): Device[] {
  const idle = members('auto').filter(isIdle);
  if (idle.length > 0) return idle;
  return fail(`other processes use every device (${listDevices(members('auto'))}). Wait, or name devices to share.`);
}

function chooseFirst(count: number, { members, fail }: Scope): Device[] {
  const devices = members('auto');
  if (count <= devices.length) return devices.slice(0, count);
  return fail(
    `${count} devices asked for; ${existing(devices)}. Ask for ${devices.length} at most: ` +
      'members beyond that share devices, or run in waves.',
  );
}

function isOf(pool: Pool, { kind }: Device): boolean {
  return poolKinds[pool].includes(kind);
}

function chooseNamed(items: { pool: Pool; index: number }[], { members, obstacle, fail }: Scope): Device[] {
  const devices = items.map(({ pool, index }) => {
    const device = members(pool).find((candidate) => candidate.index === index);
    if (device !== undefined) return device;
    const reason = obstacle(pool, index);
    const what = reason === undefined ? `there is no device ${index}` : `device ${index} cannot be used: ${reason}`;
    return fail(`${what}; ${existing(members(pool))}.`);
  });
  const twice = devices.find((device, place) => devices.indexOf(device) !== place);
  if (twice !== undefined) return fail(`${twice.id} is named twice. Name each device once.`);
  const stranger = devices.find((device) => device.kind !== devices[0].kind);
  if (stranger === undefined) return devices;
  return fail(`${devices[0].id} and ${stranger.id} need different backends. Name devices of one kind.`);
}

/** The usable devices of a pool's best kind; null if there are none. */
function poolMembers(pool: Pool, available: readonly Device[], usableKinds: readonly DeviceKind[]): Device[] | null {
  const groups = poolKinds[pool]
    .filter((kind) => usableKinds.includes(kind))
    .map((kind) => available.filter((device) => device.kind === kind && device.unusable === undefined));
  return groups.find((group) => group.length > 0) ?? null;
}

function explainEmpty(pool: Pool, available: readonly Device[], usableKinds: readonly DeviceKind[]): string {
  const usable = available.filter(({ kind, unusable }) => usableKinds.includes(kind) && unusable === undefined);
  const there = available.filter((device) => isOf(pool, device));
  if (there.length === 0) return `this machine has no such device; ${existing(usable)}.`;
  // All other backends do, including the default of `auto`.
  if (there[0].kind === 'cpu') return `the webgpu backend does not compute on CPU cores; ${existing(usable)}.`;
  const api = apiNames[there[0].kind];
  const names = there.map((device) => `${device.id} (${device.name})`).join(', ');
  const remedy = remedies[there[0].kind] ?? '';
  return (
    `found ${names}, but there is no ${api} backend.${remedy} For the backends that are ` +
    `there, ${existing(usable)}.`
  );
}

function existing(devices: readonly Device[]): string {
  if (devices.length === 0) return 'there are none';
  const note = devices.every(({ kind }) => kind === 'webgpu-cpu') ? ', to be named, as it computes on the CPU' : '';
  return `there ${devices.length === 1 ? 'is' : 'are'} ${listDevices(devices)}${note}`;
}

/** `cpu:0, cpu:1`, and `cpu:0 to cpu:63` for many. */
function listDevices(devices: readonly Device[]): string {
  const ids = devices.map((device) => device.id);
  return ids.length <= 8 ? ids.join(', ') : `${ids[0]} to ${ids[ids.length - 1]}`;
}

/** Whether a device is idle. Values that it does not report (the memory of a core, often the load) count as idle. */
function isIdle(device: Device): boolean {
  const { memoryTotalBytes, memoryUsedBytes, load, processCount } = device;
  const memoryShare = memoryTotalBytes === null ? 0 : (memoryUsedBytes ?? 0) / memoryTotalBytes;
  return (processCount ?? 0) === 0 && (load ?? 0) < idleLimits.load && memoryShare < idleLimits.memoryShare;
}
