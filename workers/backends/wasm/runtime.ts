import type { Gemm } from './products/gemm.ts';
import type { Determinism, KernelModule } from './kernel-module.ts';
import type { TensorMemory } from './memory/tensor-memory.ts';

/** What the kernels registered with TensorFlow.js work with. */
export interface WasmRuntime {
  readonly memory: TensorMemory;
  readonly kernels: KernelModule;
  readonly determinism: Determinism;
  /** Every matrix product goes through it; may be replaced at any time. */
  gemm: Gemm;
}
