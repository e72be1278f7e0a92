import type { NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { required } from '../memory/inputs.ts';
import type { WasmRuntime } from '../runtime.ts';

/**
 * x where it is positive, else alpha · x, as relu(x) − alpha · relu(−x). tfjs's own kernel keeps alpha as it first was, and alpha is trained.
 */
export function prelu({ memory }: WasmRuntime, inputs: NamedTensorInfoMap): TensorInfo {
  const [x, alpha] = [required(inputs, 'x'), required(inputs, 'alpha')];
  const call = (name: string, operands: NamedTensorInfoMap): TensorInfo => {
    const kernel = tf.getKernel(name, 'wasm');
    if (kernel === undefined) throw new Error(`The wasm backend has no kernel ${name}: is its version the pinned one?`);
    return kernel.kernelFunc({ inputs: operands, backend: memory.backend }) as TensorInfo;
  };
  const negated = call('Neg', { x });
  const below = call('Relu', { x: negated });
  const scaled = call('Multiply', { a: below, b: alpha });
  const above = call('Relu', { x });
  const output = call('Sub', { a: above, b: scaled });
  for (const part of [negated, below, scaled, above]) memory.dispose(part);
  return output;
}
