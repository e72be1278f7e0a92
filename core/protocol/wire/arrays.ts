/** The arrays that may be sent. All other data is JSON. */
export type WireArray =
  | Float32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>;

/**
 * Names of element types, as tensor libraries spell them. A Uint16Array holds `bfloat16` values (`bfloat16.ts`). Their order is
 * part of the wire format: append only.
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

/** The element type of an array. @throws TypeError for an array that cannot be sent */
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
 * Frees the memory of an array that is no longer needed; it is empty afterwards. Does nothing for a part of a larger buffer, which
 * the garbage collector frees.
 *
 * V8 scans the whole heap whenever some 64 MB of buffers have become garbage. With megabytes sent at every step that costs more
 * than sending them.
 */
export function freeMemory({ buffer, byteLength }: ArrayBufferView): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
