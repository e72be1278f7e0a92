import type { Device, Detected } from '../../core/protocol/machine/devices.ts';
import { type AdaptersReply, type WebgpuAdapter, webgpuDriverRemedy } from '../../core/protocol/machine/webgpu.ts';

/** Asks Dawn for its adapters, with the environment that shows it but one GPU if an address is given; null where it is not set up. */
export type AdapterLister = (pciAddress?: string) => Promise<AdaptersReply | null>;

export interface AdapterSources {
  list: AdapterLister;
  /** PCI addresses of this machine's graphics devices, where drivers can be told to show but one. */
  pciAddresses: () => Promise<string[]>;
}

/**
 * What Dawn lists, as devices: GPUs as `webgpu:i`, programs that stand in for one as `webgpu-cpu:i`. Dawn chooses adapters by name, so of
 * those with one name only the first can be used, unless the driver shows a worker only one of them.
 */
export async function detectWebgpu(sources: AdapterSources): Promise<Detected> {
  const reply = await sources.list();
  if (reply === null) return { devices: [], notes: [] };
  if (reply.kind === 'failed') return { devices: [], notes: [`WebGPU adapters cannot be listed: ${reply.reason}`] };
  const { adapters } = reply;
  const separate = hasTwins(adapters) ? await separateTwins(adapters, sources) : new Map<string, string[]>();
  const devices = (['webgpu', 'webgpu-cpu'] as const).flatMap((kind) =>
    adapters
      .filter(({ isSoftware }) => isSoftware === (kind === 'webgpu-cpu'))
      .map(({ name }, index, all) => {
        const twin = all.slice(0, index).filter((other) => other.name === name).length;
        return describeAdapter({ kind, name, index, twin, addresses: separate.get(name) ?? null });
      }),
  );
  return { devices, notes: devices.some(({ kind }) => kind === 'webgpu') ? [] : [describeAbsence(devices)] };
}

function hasTwins(adapters: readonly WebgpuAdapter[]): boolean {
  return new Set(adapters.map(({ name }) => name)).size < adapters.length;
}

/**
 * The PCI addresses of adapters that share a name. An address counts where, told to show only that GPU, the drivers do show one adapter.
 * A name is left out unless each of its adapters has one.
 */
async function separateTwins(adapters: readonly WebgpuAdapter[], sources: AdapterSources) {
  const found = new Map<string, string[]>();
  for (const address of await sources.pciAddresses()) {
    const reply = await sources.list(address);
    const shown = reply?.kind === 'listed' ? reply.adapters.filter(({ isSoftware }) => !isSoftware) : [];
    if (shown.length !== 1) continue;
    const [{ name }] = shown;
    found.set(name, [...(found.get(name) ?? []), address]);
  }
  const count = (name: string): number => adapters.filter((adapter) => adapter.name === name).length;
  return new Map([...found].filter(([name, addresses]) => count(name) > 1 && addresses.length === count(name)));
}

interface AdapterPlace {
  kind: 'webgpu' | 'webgpu-cpu';
  name: string;
  index: number;
  /** How many of its name come before it. */
  twin: number;
  /** Where drivers can tell those of its name apart. */
  addresses: readonly string[] | null;
}

function describeAdapter({ kind, name, index, twin, addresses }: AdapterPlace): Device {
  const device: Device = {
    id: `${kind}:${index}`,
    kind,
    index,
    name,
    memoryTotalBytes: null,
    memoryUsedBytes: null,
    load: null,
    processCount: null,
  };
  if (addresses !== null) return { ...device, pciAddress: addresses[twin] };
  if (twin === 0) return device;
  return {
    ...device,
    unusable: 'it has the name of another, by which Dawn chooses, and no driver here can show it alone',
  };
}

function describeAbsence(devices: readonly Device[]): string {
  const driver = webgpuDriverRemedy(process.platform);
  const [first] = devices;
  if (first === undefined) return `WebGPU finds no GPU. ${driver}`;
  return `WebGPU finds no GPU, only ${first.name}, which computes on the CPU and must be named to be used (--devices ${first.id}). ${driver}`;
}
