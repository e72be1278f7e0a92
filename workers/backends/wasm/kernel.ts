import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import type { WasmRuntime } from './runtime.ts';

/** A kernel as Tutti writes them: of one output. */
export type Kernel = (runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap) => TensorInfo;
