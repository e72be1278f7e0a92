import { type BackendWasm, setThreadsCount } from '@tensorflow/tfjs-backend-wasm';
import type { KernelFunc, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../tf.ts';
import type { Backend } from './backend.ts';

/**
 * tfjs's WebAssembly backend on one core: the default, from npm alone.
 * @throws when WebAssembly with SIMD is not to be had
 */
export async function start(): Promise<Backend> {
  setThreadsCount(1);
  if (!(await tf.setBackend('wasm'))) {
    throw new Error('The wasm backend did not start on this processor. Use --backend cpu, which is slow but plain.');
  }
  transposeBeforeMatMul();
  return { kind: 'wasm', description: 'wasm (SIMD, one core)', memoryBytes: heapBytes };
}

function heapBytes(): number {
  const { wasm } = tf.backend() as BackendWasm;
  return (wasm as unknown as { HEAPU8: Uint8Array }).HEAPU8.byteLength;
}

/**
 * The stock BatchMatMul runs at 1 to 4 GFLOP/s when an operand is to be transposed, as every gradient of a dense layer
 * asks, and at 43 GFLOP/s when none is. Transposing first, as an op of its own, costs little beside that.
 */
function transposeBeforeMatMul(): void {
  const multiply = kernel('BatchMatMul');
  const transpose = kernel('Transpose');
  tf.unregisterKernel('BatchMatMul', 'wasm');
  tf.registerKernel({
    kernelName: 'BatchMatMul',
    backendName: 'wasm',
    kernelFunc: ({ inputs, attrs, backend }) => {
      const plain = (x: TensorInfo, transposed: unknown): TensorInfo =>
        transposed ? single(transpose({ inputs: { x }, attrs: { perm: swapLastAxes(x.shape.length) }, backend })) : x;
      const a = plain(operand(inputs.a), attrs?.transposeA);
      const b = plain(operand(inputs.b), attrs?.transposeB);
      const product = multiply({ inputs: { a, b }, attrs: { transposeA: false, transposeB: false }, backend });
      for (const copy of [a, b]) {
        if (copy !== inputs.a && copy !== inputs.b) (backend as BackendWasm).disposeData(copy.dataId);
      }
      return product;
    },
  });
}

function kernel(name: string): KernelFunc {
  const config = tf.getKernel(name, 'wasm');
  if (config === undefined) throw new Error(`The wasm backend has no kernel "${name}": is its version the pinned one?`);
  return config.kernelFunc;
}

function operand(info: TensorInfo | undefined): TensorInfo {
  if (info === undefined) throw new Error('BatchMatMul needs two operands, a and b.');
  return info;
}

function single(output: TensorInfo | TensorInfo[]): TensorInfo {
  return Array.isArray(output) ? operand(output[0]) : output;
}

function swapLastAxes(rank: number): number[] {
  return [...Array.from({ length: rank - 2 }, (_, axis) => axis), rank - 1, rank - 2];
}
