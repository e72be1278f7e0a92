import type { NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { required } from '../memory/inputs.ts';
import type { WasmRuntime } from '../runtime.ts';

/**
 * A tensor of the same data. tfjs clones every tensor that a gradient needs, and its own kernel copies. What changes data in place must
 * leave shared data alone: see `TensorMemory.isShared`.
 */
export function identity({ memory }: WasmRuntime, inputs: NamedTensorInfoMap): TensorInfo {
  return memory.share(required(inputs, 'x'));
}
