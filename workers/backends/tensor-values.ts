import { tf, type Tensor } from '../tf.ts';

/** What wasm's backend has beside what all have. */
interface HeapBackend {
  typedArrayFromHeap(tensor: Tensor): Float32Array;
  dataIdMap: { has(dataId: object): boolean };
}

/**
 * A float tensor's values, to be read at once: where they lie in memory that this process can see, that memory itself and not a
 * copy, which changes with the next op.
 */
export async function valuesOf(tensor: Tensor): Promise<Float32Array> {
  const backend: unknown = tf.backend();
  if (isHeapBackend(backend) && backend.dataIdMap.has(tensor.dataId)) return backend.typedArrayFromHeap(tensor);
  return (await tensor.data()) as Float32Array;
}

function isHeapBackend(backend: unknown): backend is HeapBackend {
  return typeof backend === 'object' && backend !== null && 'typedArrayFromHeap' in backend;
}
