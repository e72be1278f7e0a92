import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import type { WasmRuntime } from './runtime.ts';

/** A kernel as Tutti writes them; null leaves the call to tfjs's own kernel. */
export type Kernel = (
  runtime: WasmRuntime,
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
) => TensorInfo | TensorInfo[] | null;
