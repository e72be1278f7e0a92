import { tf, type Tensor } from '../tensorflow/tf.ts';

/** Members of the wasm backend of TensorFlow.js 4.22. */
interface HeapBackend {
  wasm: {
    readonly HEAPU8: Uint8Array<ArrayBuffer>;
    _malloc(bytes: number): number;
    _free(address: number): void;
    tfjs: { registerTensor(id: number, size: number, address: number): void; disposeData(id: number): void };
  };
  dataIdMap: { has(dataId: object): boolean; get(dataId: object): { id: number; memoryOffset: number } };
}

/** Members of the cpu backend. */
interface PlainBackend {
  data: { has(dataId: object): boolean; get(dataId: object): { values?: Float32Array } };
}

/** Where a backend keeps a tensor's values. */
interface Place {
  isReleased(): boolean;
  release(): void;
  restore(values: Float32Array): void;
}

/** Whether the current backend can free the values of tensors that stay alive. */
export function canReleaseValues(): boolean {
  return ['wasm', 'cpu'].includes(tf.getBackend());
}

/**
 * Frees the memory of a float tensor's values, also for all tensors that share them: clones, and what a gradient tape
 * saved. The tensors stay alive; until {@link restoreValues} each use of the values is an error.
 */
export function releaseValues(tensor: Tensor): void {
  const place = placeOf(tensor);
  if (!place.isReleased()) place.release();
}

/** Gives a released tensor, and all that share its values, new ones. @param values are copied */
export function restoreValues(tensor: Tensor, values: Float32Array): void {
  const place = placeOf(tensor);
  if (!place.isReleased()) throw new Error('The values of this tensor were not released.');
  place.restore(values);
}

function placeOf(tensor: Tensor): Place {
  const backend: unknown = tf.backend();
  if (isHeap(backend)) return inHeap(backend, tensor);
  if (isPlain(backend)) return inArray(backend, tensor);
  throw new Error(`The ${tf.getBackend()} backend cannot release the values of tensors. Use --backend wasm.`);
}

function inHeap({ wasm, dataIdMap }: HeapBackend, { dataId, size }: Tensor): Place {
  const data = dataIdMap.get(dataId);
  const { tfjs } = wasm;
  return {
    isReleased: () => isGuarded(data, 'memoryOffset'),
    release() {
      tfjs.disposeData(data.id);
      wasm._free(data.memoryOffset);
      guard(data, 'memoryOffset');
    },
    restore(values) {
      const address = wasm._malloc(4 * size) >>> 0;
      unguard(data, 'memoryOffset', address);
      tfjs.registerTensor(data.id, size, address);
      new Float32Array(wasm.HEAPU8.buffer, address, size).set(values);
    },
  };
}

function inArray(backend: PlainBackend, { dataId }: Tensor): Place {
  const data = backend.data.get(dataId);
  return {
    isReleased: () => isGuarded(data, 'values'),
    release: () => guard(data, 'values'),
    restore: (values) => unguard(data, 'values', values.slice()),
  };
}

function isGuarded(data: object, property: string): boolean {
  return Object.getOwnPropertyDescriptor(data, property)?.get !== undefined;
}

/** Makes each read of a property an error: a kernel would otherwise compute with whatever lies at the address. */
function guard(data: object, property: string): void {
  Object.defineProperty(data, property, {
    configurable: true,
    enumerable: true,
    get: () => {
      throw new Error(
        'A weight that lies in shards was used outside its layer, or read between two evaluations. That needs the ' +
          'strategy data-parallel, or sharded with --strategy.stage 1 or 2.',
      );
    },
  });
}

function unguard(data: object, property: string, value: unknown): void {
  Object.defineProperty(data, property, { configurable: true, enumerable: true, writable: true, value });
}

function isHeap(backend: unknown): backend is HeapBackend {
  return typeof backend === 'object' && backend !== null && 'dataIdMap' in backend && 'wasm' in backend;
}

function isPlain(backend: unknown): backend is PlainBackend {
  return typeof backend === 'object' && backend !== null && 'data' in backend && tf.getBackend() === 'cpu';
}
