/** The arrays that may be sent. All other data is JSON. */
export type WireArray =
  | Float32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>;

/**
 * Names of element types, as tensor libraries spell them. A Uint16Array holds `bfloat16` values (`bfloat16.ts`). Their
 * order is part of the wire format: append only.
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
 * Frees the memory of an array that is no longer needed; it is empty afterwards. Does nothing for a part of a larger
 * buffer, which the garbage collector frees.
 *
 * V8 scans the whole heap whenever some 64 MB of buffers have become garbage. With megabytes sent at every step that
 * costs more than sending them.
 */
export function freeMemory({ buffer, byteLength }: ArrayBufferView): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/**
 * bfloat16 is the upper half of a float32: sign, 8 bits of exponent, 7 bits of fraction. It has float32's range and
 * about three decimal digits, in half the bytes.
 */

/** Rounds every value to the nearest bfloat16, ties to even. NaN stays NaN. */
export function encodeBfloat16(values: Float32Array): Uint16Array<ArrayBuffer> {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const word = bits[i];
    // Rounding could turn a NaN into an infinity.
    const isNaN = (word & 0x7fffffff) > 0x7f800000;
    halves[i] = isNaN ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return halves;
}

/** The exact float32 values of bfloat16s. */
export function decodeBfloat16(halves: Uint16Array): Float32Array<ArrayBuffer> {
  const values = new Float32Array(halves.length);
  const bits = new Uint32Array(values.buffer);
  for (let i = 0; i < halves.length; i++) bits[i] = halves[i] << 16;
  return values;
}
