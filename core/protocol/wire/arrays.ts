/** The arrays that may travel: everything else would have to be JSON. */
export type WireArray =
  | Float32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>;

/**
 * Names of element types, as tensors' libraries spell them; a `bfloat16` lies in a Uint16Array (`bfloat16.ts`). Their order is part of
 * the wire format: append only.
 */
export const dataTypes = ['float32', 'float64', 'int32', 'uint8', 'bfloat16'] as const;
export type DataType = (typeof dataTypes)[number];

const constructors = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
  bfloat16: Uint16Array,
} as const;

/** The element type of an array that may travel. Throws a TypeError for any other array. */
export function dataTypeOf(array: ArrayBufferView): DataType {
  for (const dataType of dataTypes) {
    if (array instanceof constructors[dataType]) return dataType;
  }
  throw new TypeError(`${array.constructor.name} cannot travel between processes; use one of ${dataTypes.join(', ')}.`);
}

export function bytesPerElement(dataType: DataType): number {
  return constructors[dataType].BYTES_PER_ELEMENT;
}

/** A new array of zeros, shape [length]. */
export function createArray(dataType: DataType, length: number): WireArray {
  return new constructors[dataType](length);
}

/** An array over existing memory; `byteOffset` must be a multiple of the element's size. */
export function viewArray(dataType: DataType, buffer: ArrayBuffer, byteOffset: number, length: number): WireArray {
  return new constructors[dataType](buffer, byteOffset, length);
}

/**
 * Frees the memory of an array that nobody needs any more; it is empty afterwards. Only where the array has its buffer to
 * itself: a part of a larger one is left to the garbage collector.
 *
 * V8 walks the whole heap whenever some 64 MB of buffers have died. With megabytes passing at every step that costs more
 * than passing them does.
 */
export function freeMemory({ buffer, byteLength }: ArrayBufferView): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
