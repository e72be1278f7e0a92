import { createRequire } from 'node:module';
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { MathBackendCPU } from '@tensorflow/tfjs-backend-cpu';
import { tf } from '../../../tensorflow/tf.ts';
import type { Kernel } from '../kernel.ts';
import type { WasmRuntime } from '../runtime.ts';

/**
 * Kernels that TensorFlow.js's wasm backend lacks or has wrong, and that are rarely what training waits for: those of its `cpu` backend,
 * on copies. tfjs 4.22's own give wrong gradients in 3-D convolutions.
 */
const names = ['Conv3DBackpropFilterV2', 'Conv3DBackpropInputV2', 'Einsum'];

export const borrowedKernels: Record<string, Kernel> = Object.fromEntries(names.map((name) => [name, borrow(name)]));

const require = createRequire(import.meta.url);

function borrow(name: string): Kernel {
  return (runtime, inputs, attrs) => {
    const cpu = cpuBackend();
    const kernel = tf.getKernel(name, 'cpu');
    if (kernel === undefined) throw new Error(`tfjs-backend-cpu has no kernel ${name}: is its version the pinned one?`);
    const copies = Object.entries(inputs).flatMap(([input, tensor]) =>
      tensor === undefined ? [] : [[input, toCpu(runtime, cpu, tensor)] as const],
    );
    const result = kernel.kernelFunc({ inputs: Object.fromEntries(copies), attrs, backend: cpu }) as TensorInfo;
    for (const [, copy] of copies) cpu.disposeData(copy.dataId);
    return fromCpu(runtime, cpu, result);
  };
}

/** Loaded at the first use: most runs need none of these kernels. */
function cpuBackend(): MathBackendCPU {
  const loaded = tf.engine().findBackend('cpu') as MathBackendCPU | null;
  if (loaded !== null) return loaded;
  require('@tensorflow/tfjs-backend-cpu');
  const cpu = tf.engine().findBackend('cpu') as MathBackendCPU;
  // Or it prints an advertisement for tfjs-node at its first use.
  const isTest = tf.env().getBool('IS_TEST');
  tf.env().set('IS_TEST', true);
  cpu.disposeData(cpu.makeTensorInfo([1], 'float32', Float32Array.of(0)).dataId);
  tf.env().set('IS_TEST', isTest);
  return cpu;
}

function toCpu({ memory }: WasmRuntime, cpu: MathBackendCPU, tensor: TensorInfo): TensorInfo {
  const values = memory.backend.readSync(tensor.dataId) as Float32Array;
  return cpu.makeTensorInfo(tensor.shape, tensor.dtype, values);
}

function fromCpu({ memory }: WasmRuntime, cpu: MathBackendCPU, result: TensorInfo): TensorInfo {
  const output = memory.output(result.shape, result.dtype);
  const values = cpu.readSync(result.dataId) as Float32Array;
  memory.backend.typedArrayFromHeap(output).set(values);
  cpu.disposeData(result.dataId);
  return output;
}
