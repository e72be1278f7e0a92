import { type BackendWasm, setThreadsCount } from '@tensorflow/tfjs-backend-wasm';
import { tf } from '../tf.ts';
import type { Backend } from './backend.ts';
import { createGemm } from './wasm/gemm.ts';
import { type Determinism, loadKernels } from './wasm/kernel-module.ts';
import { registerKernels } from './wasm/register.ts';
import { TensorMemory } from './wasm/tensor-memory.ts';

/**
 * tfjs's WebAssembly backend on one core, with Tutti's own kernels in its memory: the default, from npm alone.
 * @throws when WebAssembly with SIMD is not to be had
 */
export async function start(wanted: Determinism = 'relaxed'): Promise<Backend> {
  setThreadsCount(1);
  if (!(await tf.setBackend('wasm'))) {
    throw new Error('The wasm backend did not start on this processor. Use --backend cpu, which is slow but plain.');
  }
  const memory = new TensorMemory(tf.backend() as BackendWasm);
  const { kernels, determinism } = await loadKernels(memory.wasmMemory, wanted);
  registerKernels({ memory, kernels, determinism, gemm: createGemm(kernels, memory) });
  return {
    kind: 'wasm',
    description: `wasm (SIMD, ${determinism}, one core)`,
    memoryBytes: () => memory.heapBytes,
  };
}
