import type { NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';

/** An input that tfjs always gives. @throws when it is missing */
export function required(inputs: NamedTensorInfoMap, name: string): TensorInfo {
  const input = inputs[name];
  if (input === undefined) throw new Error(`A kernel was called without its input "${name}".`);
  return input;
}

/** @throws when a tensor is not of 32-bit floats */
export function requireFloats(op: string, ...tensors: TensorInfo[]): void {
  const other = tensors.find(({ dtype }) => dtype !== 'float32');
  if (other === undefined) return;
  throw new Error(
    `${op} of ${other.dtype} values is not to be had on the wasm backend: cast to float32, or use --backend cpu.`,
  );
}
