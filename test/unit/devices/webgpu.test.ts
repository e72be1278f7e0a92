import { describe, expect, it } from 'vitest';
import type { WebgpuAdapter } from '../../../core/protocol/machine/devices.ts';
import { detectWebgpu } from '../../../src-main/devices/webgpu.ts';

const gpu = (name: string): WebgpuAdapter => ({ name, isSoftware: false });
const swiftShader = { name: 'SwiftShader Device (Subzero)', isSoftware: true };

/** A machine that lists `all`, and, if the driver supports it, only the device at an address. */
function machine(all: WebgpuAdapter[], byAddress: Record<string, WebgpuAdapter[]> = {}) {
  return {
    list: (address?: string) =>
      Promise.resolve({ kind: 'listed' as const, adapters: address === undefined ? all : byAddress[address] }),
    pciAddresses: () => Promise.resolve(Object.keys(byAddress)),
  };
}

async function detect(...parts: Parameters<typeof machine>) {
  const { devices, notes } = await detectWebgpu(machine(...parts));
  return { devices: devices.map(({ id, name, pciAddress, unusable }) => ({ id, name, pciAddress, unusable })), notes };
}

describe('WebGPU adapters', () => {
  it('are devices, with a separate kind for those that compute on the CPU', async () => {
    expect(await detect([gpu('AMD Radeon RX 7900 XT'), swiftShader, gpu('Intel(R) UHD Graphics 770')])).toEqual({
      devices: [
        { id: 'webgpu:0', name: 'AMD Radeon RX 7900 XT' },
        { id: 'webgpu:1', name: 'Intel(R) UHD Graphics 770' },
        { id: 'webgpu-cpu:0', name: 'SwiftShader Device (Subzero)' },
      ],
      notes: [],
    });
  });

  const twins = [gpu('Radeon'), gpu('Radeon'), gpu('Arc')];

  it('with the same name are distinguished by address if the driver can show one alone', async () => {
    const addresses = {
      '0000:03:00.0': [gpu('Radeon'), swiftShader],
      '0000:05:00.0': [gpu('Arc')],
      '0000:23:00.0': [gpu('Radeon')],
    };
    expect((await detect(twins, addresses)).devices).toEqual([
      { id: 'webgpu:0', name: 'Radeon', pciAddress: '0000:03:00.0' },
      { id: 'webgpu:1', name: 'Radeon', pciAddress: '0000:23:00.0' },
      { id: 'webgpu:2', name: 'Arc' },
    ]);
  });

  it.each([
    ['shows all whatever it is told', { '0000:03:00.0': twins, '0000:23:00.0': twins }],
    ['shows but one of the two', { '0000:03:00.0': [gpu('Radeon')], '0000:23:00.0': [] }],
    ['has no addresses', {}],
  ])('with the same name are one device if the driver %s', async (_, addresses) => {
    const unusable =
      'it has the same name as another adapter, Dawn selects adapters by name, and no driver here can show it alone';
    expect((await detect(twins, addresses)).devices).toEqual([
      { id: 'webgpu:0', name: 'Radeon' },
      { id: 'webgpu:1', name: 'Radeon', unusable },
      { id: 'webgpu:2', name: 'Arc' },
    ]);
  });

  it('report what is missing if there are none', async () => {
    expect((await detect([])).notes[0]).toMatch(/^WebGPU finds no GPU\. /);
    expect((await detect([swiftShader])).notes[0]).toMatch(
      /^WebGPU finds no GPU, only SwiftShader Device \(Subzero\), which computes on the CPU and must be named/,
    );
    const failing = { list: () => Promise.resolve({ kind: 'failed' as const, reason: 'it was killed' }) };
    expect(await detectWebgpu({ ...machine([]), ...failing })).toEqual({
      devices: [],
      notes: ['WebGPU adapters cannot be listed: it was killed'],
    });
  });

  it('are not searched for if WebGPU is not set up', async () => {
    expect(await detectWebgpu({ ...machine([]), list: () => Promise.resolve(null) })).toEqual({
      devices: [],
      notes: [],
    });
  });
});
