import type { MatrixProducts } from './gemm.ts';
import type { Determinism, KernelModule, RecurrentModule } from './kernel-module.ts';
import type { TensorMemory } from './memory/tensor-memory.ts';
import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';

/** The environment of Tutti's kernels. */
export interface WasmRuntime extends MatrixProducts {
  readonly memory: TensorMemory;
  readonly kernels: KernelModule;
  /** Those of recurrent layers' steps, in wider instructions where this is faster. */
  readonly recurrent: RecurrentModule;
  readonly determinism: Determinism;
}

/** One of Tutti's kernels. If it returns null, tfjs's own kernel handles the call. */
export type Kernel = (
  runtime: WasmRuntime,
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
) => TensorInfo | TensorInfo[] | null;

/** An input that tfjs always passes. @throws Error if it is missing */
export function required(inputs: NamedTensorInfoMap, name: string): TensorInfo {
  const input = inputs[name];
  if (input === undefined) throw new Error(`A kernel was called without its input "${name}".`);
  return input;
}

/** @throws Error if a tensor's values are not 32-bit floats */
export function requireFloats(op: string, ...tensors: TensorInfo[]): void {
  const other = tensors.find(({ dtype }) => dtype !== 'float32');
  if (other === undefined) return;
  throw new Error(
    `${op} of ${other.dtype} values is not available on the wasm backend: cast to float32, or use --backend cpu.`,
  );
}
