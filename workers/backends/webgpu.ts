import { createRequire } from 'node:module';
import { join } from 'node:path';
import { webgpuAdapterVariable, webgpuFolderVariable } from '../../core/protocol/machine/devices.ts';
import { shareOwnCopies } from '../system/own-copies.ts';
import { tf } from '../tensorflow/tf.ts';
import type { Backend } from './contract.ts';
import { type Adapter, chooseAdapter, checkBuild, loadDawn } from './webgpu/dawn.ts';
import { correctKernels } from './webgpu/kernels.ts';
import { guardReads, type WebgpuBackend } from './webgpu/reads.ts';

/**
 * GPUs of all vendors through Dawn and TensorFlow.js's WebGPU kernels, on the adapter that the environment names.
 * @throws Error with the remedy, if the backend is not set up or the adapter does not exist
 */
export async function start(): Promise<Backend> {
  const folder = process.env[webgpuFolderVariable] ?? '';
  checkBuild(folder);
  const dawn = await loadDawn(folder);
  const wanted = process.env[webgpuAdapterVariable] ?? null;
  const adapter = await chooseAdapter(dawn, wanted);
  const { device, description, isFallbackAdapter } = adapter.info;
  const name = wanted ?? device;
  Object.assign(globalThis, dawn.globals);
  await registerBackend(folder, adapter);
  correctKernels();
  guardReads(tf.backend() as WebgpuBackend, `WebGPU adapter "${name}"`);
  return {
    kind: 'webgpu',
    description: `webgpu (${name}, ${description}${isFallbackAdapter ? ', NOT a GPU: it computes on the CPU' : ''})`,
    memoryBytes: () => (tf.memory() as unknown as { numBytesAllocatedInGPU: number }).numBytesAllocatedInGPU,
  };
}

/**
 * tfjs asks the browser's `navigator.gpu` for an adapter. It is removed afterwards, because it would keep Node from
 * exiting.
 */
async function registerBackend(folder: string, adapter: Adapter): Promise<void> {
  const gpu = { requestAdapter: () => Promise.resolve(adapter) };
  Object.defineProperty(navigator, 'gpu', { value: gpu, configurable: true });
  shareOwnCopies();
  try {
    createRequire(join(folder, 'tfjs-backend-webgpu', 'package.json'))('./dist/tf-backend-webgpu.node.js');
    if (!(await tf.setBackend('webgpu'))) {
      throw new Error(
        `TensorFlow.js did not start on the WebGPU adapter "${adapter.info.device}". Use --backend wasm.`,
      );
    }
  } finally {
    Reflect.deleteProperty(navigator, 'gpu');
  }
}
