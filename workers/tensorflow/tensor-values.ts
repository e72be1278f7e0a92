import { tf, type Tensor } from './tf.ts';

/** Members that only the wasm backend has. */
interface HeapBackend {
  typedArrayFromHeap(tensor: Tensor): Float32Array<ArrayBuffer>;
  dataIdMap: { has(dataId: object): boolean };
  refCount(dataId: object): number;
}

/**
 * A float tensor's values, for immediate use: a view of the backend's memory if this process can read it, else a copy. The next op may change
 * a view.
 */
export async function valuesOf(tensor: Tensor): Promise<Float32Array> {
  return viewOf(tensor) ?? ((await tensor.data()) as Float32Array);
}

/** A view of a float tensor's values, for immediate use; null if this process cannot read the backend's memory. */
export function viewOf(tensor: Tensor): Float32Array<ArrayBuffer> | null {
  const backend: unknown = tf.backend();
  const isThere = isHeapBackend(backend) && backend.dataIdMap.has(tensor.dataId);
  return isThere ? backend.typedArrayFromHeap(tensor) : null;
}

/** Whether {@link viewOf} can show a tensor's values and no other tensor shares them. */
export function isAloneInMemory(tensor: Tensor): boolean {
  const backend: unknown = tf.backend();
  return isHeapBackend(backend) && backend.dataIdMap.has(tensor.dataId) && backend.refCount(tensor.dataId) === 1;
}

function isHeapBackend(backend: unknown): backend is HeapBackend {
  return typeof backend === 'object' && backend !== null && 'typedArrayFromHeap' in backend;
}
