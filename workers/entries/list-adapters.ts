import { type AdaptersReply, webgpuFolderVariable } from '../../core/protocol/machine/devices.ts';
import { listAdapters, loadDawn } from '../backends/webgpu/dawn.ts';
import { replyToHub } from '../session/hub-link.ts';

/**
 * Entry of a short process that lists WebGPU's adapters, so that the hub loads no graphics drivers. Started by
 * `src-main/devices/webgpu.ts`.
 */

async function list(): Promise<AdaptersReply> {
  try {
    const dawn = await loadDawn(process.env[webgpuFolderVariable] ?? '');
    return { kind: 'listed', adapters: await listAdapters(dawn) };
  } catch (error) {
    return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
}

replyToHub(await list());
