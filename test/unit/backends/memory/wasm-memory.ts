import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { createProducts, type MatrixProducts } from '../../../../workers/backends/wasm/gemm.ts';
import { type Determinism, type KernelModule, loadKernels } from '../../../../workers/backends/wasm/kernel-module.ts';
import { TensorMemory } from '../../../../workers/backends/wasm/memory/tensor-memory.ts';
import { loadWideKernels } from '../../../../workers/backends/wasm/wide-gemm.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';

/** The kernels of one build in the memory of the wasm backend, without registration. */
export async function kernelsAlone(
  determinism: Determinism,
): Promise<{ kernels: KernelModule; memory: TensorMemory; narrow: MatrixProducts; wide: MatrixProducts }> {
  await startBackend('wasm');
  const memory = new TensorMemory(tf.backend() as BackendWasm);
  const { exports: kernels } = await loadKernels(memory.wasmMemory, determinism);
  const wide = createProducts((await loadWideKernels(memory.wasmMemory, determinism)).exports, memory);
  return { kernels, memory, narrow: createProducts(kernels, memory), wide };
}

/** Copies values to newly allocated memory and returns its address. */
export function place(memory: TensorMemory, values: Float32Array): number {
  const address = memory.allocate(4 * values.length);
  memory.floats(address, values.length).set(values);
  return address;
}
