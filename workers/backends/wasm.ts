import { type BackendWasm, setThreadsCount } from '@tensorflow/tfjs-backend-wasm';
import { tf } from '../tensorflow/tf.ts';
import type { Backend, BackendOptions } from './contract.ts';
import { loadBlas } from './blas/system-blas.ts';
import { createBlasProducts, createProducts } from './wasm/products/gemm.ts';
import { denseInLayers } from './wasm/fused-layers.ts';
import { registerGradients } from './wasm/gradients.ts';
import { type Determinism, loadKernels } from './wasm/kernel-module.ts';
import { normalizeInLayers } from './wasm/fused-layers.ts';
import { runSequencesInLayers } from './wasm/recurrent/layers.ts';
import { registerKernels } from './wasm/register.ts';
import { saveTensorsCheaply } from './wasm/memory/saved-tensors.ts';
import { TensorMemory } from './wasm/memory/tensor-memory.ts';
import { createUpdateKernels } from './wasm/kernels/updates.ts';
import { createWideKernels } from './wasm/products/wide-gemm.ts';
import { correctVolumes } from './volumes.ts';
import { registerUpdateKernels } from '../optimizers/update-kernels.ts';

/**
 * tfjs's WebAssembly backend on one core, with Tutti's kernels in its memory: the default, which needs only npm packages.
 * @throws Error if the processor has no WebAssembly SIMD, or the BLAS cannot be loaded
 */
export async function start({ determinism: wanted = 'relaxed', blas = null }: BackendOptions = {}): Promise<Backend> {
  setThreadsCount(1);
  if (!(await tf.setBackend('wasm'))) {
    throw new Error('The wasm backend did not start on this processor. Use --backend cpu, which is slow but plain.');
  }
  const memory = new TensorMemory(tf.backend() as BackendWasm);
  const { kernels, determinism } = await loadKernels(memory.wasmMemory, wanted);
  const own = createProducts(kernels, memory);
  const system = blas === null ? null : await loadBlas(blas);
  const wide = system === null ? await createWideKernels(own, memory, determinism) : null;
  const products = system === null ? (wide?.products ?? own) : createBlasProducts(system, memory, own);
  const runtime = { memory, kernels, recurrent: wide?.recurrent ?? kernels, determinism, ...products };
  registerKernels(runtime);
  correctVolumes('wasm');
  registerGradients();
  denseInLayers();
  normalizeInLayers();
  runSequencesInLayers();
  saveTensorsCheaply(memory);
  registerUpdateKernels('wasm', createUpdateKernels(runtime));
  return {
    kind: 'wasm',
    description: system === null ? describeOwn(determinism, wide === null ? 128 : 256) : `wasm + ${system.description}`,
    memoryBytes: () => memory.heapBytes,
  };
}

function describeOwn(determinism: Determinism, vectorBits: number): string {
  return `wasm (${vectorBits}-bit SIMD, ${determinism}, one core)`;
}
