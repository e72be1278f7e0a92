import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AdaptersReply, adaptersReplySchema } from '../../core/protocol/machine/webgpu.ts';
import type { AdapterSources } from './webgpu.ts';
import { askProcess } from '../processes/ask-process.ts';
import { listAdaptersEntry } from '../processes/node-process.ts';
import { readWebgpuBuild, showOnly } from '../processes/native-build.ts';

/** Drivers of several GPUs may be loaded for the first time. */
const timeoutMs = 15_000;

/** Dawn's adapters, listed in a separate process, because a driver may end it. */
export const machineAdapters: AdapterSources = {
  async list(pciAddress) {
    try {
      if (readWebgpuBuild() === null) return null;
      const answer = await askProcess<AdaptersReply>({
        entry: listAdaptersEntry,
        args: [],
        grant: null,
        timeoutMs,
        subject: 'The WebGPU adapters could not be listed',
        environment: pciAddress === undefined ? {} : showOnly(pciAddress),
      });
      return adaptersReplySchema.parse(answer);
    } catch (error) {
      return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
    }
  },

  async pciAddresses() {
    if (process.platform !== 'linux') return [];
    const folder = '/sys/bus/pci/devices';
    const addresses = (await readdir(folder)).toSorted();
    const classes = await Promise.all(addresses.map((address) => readFile(join(folder, address, 'class'), 'utf8')));
    // 0x03: display controllers, those without a display too.
    return addresses.filter((_, i) => classes[i].startsWith('0x03'));
  },
};
