/**
 * bfloat16 is the upper half of a float32: sign, 8 bits of exponent, 7 bits of fraction. It has float32's range and about three
 * decimal digits, in half the bytes.
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
