/** The part of onnxruntime-web 1.30.0 that tests use. */

declare module 'onnxruntime-web' {
  type Data = Float32Array | Float64Array | Uint8Array | BigInt64Array;

  export class Tensor {
    constructor(data: Data, dims: readonly number[]);
    constructor(type: 'string', data: readonly string[], dims: readonly number[]);
    readonly data: Data;
    readonly dims: readonly number[];
  }

  export class InferenceSession {
    readonly inputMetadata: readonly { name: string; type?: string }[];
    static create(model: Uint8Array): Promise<InferenceSession>;
    run(feeds: Record<string, Tensor>): Promise<Record<string, Tensor>>;
    release(): Promise<void>;
  }

  export const env: { logLevel: string; wasm: { numThreads: number } };
}
