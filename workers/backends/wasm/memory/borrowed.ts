import { createRequire } from 'node:module';
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { MathBackendCPU } from '@tensorflow/tfjs-backend-cpu';
import { tf } from '../../../tensorflow/tf.ts';
import type { Kernel, WasmRuntime } from '../kernel.ts';

/**
 * Kernels of the `cpu` backend, which work on copies. They stand in for kernels that TensorFlow.js's wasm backend lacks
 * or has wrong (tfjs 4.22's gradients of 3-D convolutions) and that rarely take a large part of the training time.
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

/** Loads the backend at the first use: most runs need none of these kernels. */
function cpuBackend(): MathBackendCPU {
  const loaded = tf.engine().findBackend('cpu') as MathBackendCPU | null;
  if (loaded !== null) return loaded;
  require('@tensorflow/tfjs-backend-cpu');
  const cpu = tf.engine().findBackend('cpu') as MathBackendCPU;
  // Otherwise tfjs prints an advertisement for tfjs-node.
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
