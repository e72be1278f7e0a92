import {
  type AdaptersReply,
  type Detected,
  type Device,
  type WebgpuAdapter,
  webgpuDriverRemedy,
} from '../../core/protocol/machine/devices.ts';

/** Asks Dawn for its adapters, limited to one GPU if an address is given; null if Dawn is not set up. */
export type AdapterLister = (pciAddress?: string) => Promise<AdaptersReply | null>;

export interface AdapterSources {
  list: AdapterLister;
  /** PCI addresses of this machine's graphics devices, if drivers can be limited to one of them. */
  pciAddresses: () => Promise<string[]>;
}

/**
 * Dawn's adapters as devices: GPUs as `webgpu:i`, software adapters as `webgpu-cpu:i`. Dawn selects adapters by name,
 * so only the first of several adapters with the same name can be used, unless the driver shows a worker only one of
 * them.
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
 * The PCI addresses of adapters that share a name. An address is valid if the drivers, limited to that GPU, show
 * exactly one adapter. A name is omitted unless each of its adapters has an address.
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
  /** Number of earlier adapters with the same name. */
  twin: number;
  /** Addresses of the adapters with its name, if drivers can separate them. */
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
    unusable:
      'it has the same name as another adapter, Dawn selects adapters by name, and no driver here can show it alone',
  };
}

function describeAbsence(devices: readonly Device[]): string {
  const driver = webgpuDriverRemedy(process.platform);
  const [first] = devices;
  if (first === undefined) return `WebGPU finds no GPU. ${driver}`;
  return (
    `WebGPU finds no GPU, only ${first.name}, which computes on the CPU and must be named to be used (--devices ` +
    `${first.id}). ${driver}`
  );
}
