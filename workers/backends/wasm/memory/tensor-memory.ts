import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import type { DataType, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';

/** The parts that Tutti uses of the module that tfjs-backend-wasm 4.22 instantiates. */
interface TensorflowModule {
  asm: { memory: WebAssembly.Memory };
  /** A new view after each growth of the memory. */
  readonly HEAPU8: Uint8Array<ArrayBuffer>;
  _malloc: (bytes: number) => number;
  _free: (address: number) => void;
}

/**
 * The memory of the wasm backend, which holds the tensors. Addresses stay valid when it grows; views do not, so do not
 * keep any. Tensors may share their data (clones and reshapes do): check `isShared` before changing data in place.
 */
export class TensorMemory {
  readonly backend: BackendWasm;
  private readonly module: TensorflowModule;

  constructor(backend: BackendWasm) {
    this.backend = backend;
    this.module = backend.wasm as unknown as TensorflowModule;
    refuseFailedAllocations(this.module);
  }

  get wasmMemory(): WebAssembly.Memory {
    return this.module.asm.memory;
  }

  get heapBytes(): number {
    return this.module.HEAPU8.byteLength;
  }

  /** Address of a tensor's data. */
  address(tensor: TensorInfo): number {
    return this.backend.dataIdMap.get(tensor.dataId).memoryOffset;
  }

  /** A new tensor with uninitialized data. @throws OutOfMemoryError */
  output(shape: number[], dtype: DataType = 'float32'): TensorInfo {
    return this.backend.makeOutput(shape, dtype);
  }

  /** Another tensor with the same data. */
  share({ dataId, dtype, shape }: TensorInfo, sharedShape: number[] = shape): TensorInfo {
    this.backend.incRef(dataId);
    return { dataId, dtype, shape: sharedShape };
  }

  /** Whether a tensor's data lies here. A tensor of another backend moves here at its first use. */
  holds(tensor: TensorInfo): boolean {
    return this.backend.dataIdMap.has(tensor.dataId);
  }

  isShared(tensor: TensorInfo): boolean {
    return this.backend.refCount(tensor.dataId) > 1;
  }

  /**
   * Must be called after data was changed in place: XNNPACK's kernels cache packed copies of weights by the data's id.
   */
  changed(tensor: TensorInfo): void {
    const { id, memoryOffset, shape } = this.backend.dataIdMap.get(tensor.dataId);
    this.backend.wasm.tfjs.disposeData(id);
    this.backend.wasm.tfjs.registerTensor(id, tf.util.sizeFromShape(shape), memoryOffset);
  }

  dispose(tensor: TensorInfo): void {
    this.backend.disposeData(tensor.dataId);
  }

  /** Allocates space that belongs to no tensor; free it by its address. @throws OutOfMemoryError */
  allocate(bytes: number): number {
    return this.module._malloc(bytes) >>> 0;
  }

  free(address: number): void {
    this.module._free(address);
  }

  /** A view of floats. It is valid until the next allocation. */
  floats(address: number, length: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.module.HEAPU8.buffer, address, length);
  }

  /** A view of 32-bit integers. It is valid until the next allocation. */
  integers(address: number, length: number): Int32Array<ArrayBuffer> {
    return new Int32Array(this.module.HEAPU8.buffer, address, length);
  }
}

const addressableBytes = 2 ** 32;

/** The tensors do not fit into the backend's 4 GiB, the most that 32-bit addresses reach. */
export class OutOfMemoryError extends Error {
  override name = 'OutOfMemoryError';

  constructor(bytes: number, heapBytes: number) {
    super(
      `The wasm backend has no room for ${bytes} bytes more: it holds ${heapBytes} of at most ${addressableBytes} ` +
        'bytes. Train with a smaller --batch-size or a smaller model.',
    );
  }
}

/** tfjs would write to address 0 after a failed allocation: results would be silently wrong. */
function refuseFailedAllocations(module: TensorflowModule): void {
  // The first call: Emscripten's stub then replaces itself, which would remove the guard.
  module._free(module._malloc(1));
  const allocate = module._malloc;
  module._malloc = (bytes) => {
    // The allocator would use only the last 32 bits of a larger number.
    const address = bytes < addressableBytes ? allocate(bytes) : 0;
    if (address === 0 && bytes > 0) throw new OutOfMemoryError(bytes, module.HEAPU8.byteLength);
    return address;
  };
}
