import { tf, type Tensor } from '../tensorflow/tf.ts';

/** What wasm's backend has beside what all have. */
interface HeapBackend {
  typedArrayFromHeap(tensor: Tensor): Float32Array<ArrayBuffer>;
  dataIdMap: { has(dataId: object): boolean };
  refCount(dataId: object): number;
}

/**
 * A float tensor's values, to be read at once: where they lie in memory that this process can see, that memory itself and not a
 * copy, which changes with the next op.
 */
export async function valuesOf(tensor: Tensor): Promise<Float32Array> {
  return viewOf(tensor) ?? ((await tensor.data()) as Float32Array);
}

/** A float tensor's values where they lie in memory that this process can see, to be used at once; null where they do not. */
export function viewOf(tensor: Tensor): Float32Array<ArrayBuffer> | null {
  const backend: unknown = tf.backend();
  const isThere = isHeapBackend(backend) && backend.dataIdMap.has(tensor.dataId);
  return isThere ? backend.typedArrayFromHeap(tensor) : null;
}

/** Whether a tensor's values lie where {@link viewOf} shows them, and are no other tensor's as well. */
export function isAloneInMemory(tensor: Tensor): boolean {
  const backend: unknown = tf.backend();
  return isHeapBackend(backend) && backend.dataIdMap.has(tensor.dataId) && backend.refCount(tensor.dataId) === 1;
}

function isHeapBackend(backend: unknown): backend is HeapBackend {
  return typeof backend === 'object' && backend !== null && 'typedArrayFromHeap' in backend;
}
