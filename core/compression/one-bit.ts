/**
 * One bit per value (Seide et al., 2014, "1-Bit Stochastic Gradient Descent", section 2.2): of each block of
 * {@link blockLength} values, two means, that of the values of at least 0 and that of the others, and for each value a
 * bit that says which of them stands for it. The means make the block's sum exact. The paper's blocks are the columns
 * of a matrix.
 *
 * Layout of n values in b = ⌈n / 1024⌉ blocks: b pairs of means (lower, upper), float32 little-endian, then ⌈n / 8⌉
 * bytes of bits, the first value's in bit 0.
 */
export const blockLength = 1024;

const bytesOfMeans = (length: number): number => 8 * Math.ceil(length / blockLength);

/** Values that are not finite make a mean of their block NaN or infinite. */
export function encodeOneBit(values: Float32Array): Uint8Array<ArrayBuffer> {
  const header = bytesOfMeans(values.length);
  const bytes = new Uint8Array(header + Math.ceil(values.length / 8));
  const means = new DataView(bytes.buffer);
  for (let start = 0; start < values.length; start += blockLength) {
    const end = Math.min(start + blockLength, values.length);
    const sums = [0, 0];
    const counts = [0, 0];
    for (let i = start; i < end; i++) {
      const bit = Number(values[i] >= 0);
      sums[bit] += values[i];
      counts[bit] += 1;
      bytes[header + (i >>> 3)] |= bit << (i & 7);
    }
    const at = (8 * start) / blockLength;
    for (const bit of [0, 1]) means.setFloat32(at + 4 * bit, counts[bit] === 0 ? 0 : sums[bit] / counts[bit], true);
  }
  return bytes;
}

/** sum ← sum + the values from `from` on. @param length n, of all values that were encoded */
export function addOneBit(bytes: Uint8Array, length: number, from: number, sum: Float32Array): void {
  const header = bytesOfMeans(length);
  const means = new DataView(bytes.buffer, bytes.byteOffset);
  for (let i = 0; i < sum.length; i++) {
    const place = from + i;
    const bit = (bytes[header + (place >>> 3)] >>> (place & 7)) & 1;
    sum[i] += means.getFloat32(8 * Math.floor(place / blockLength) + 4 * bit, true);
  }
}

export function decodeOneBit(bytes: Uint8Array, length: number): Float32Array<ArrayBuffer> {
  const values = new Float32Array(length);
  addOneBit(bytes, length, 0, values);
  return values;
}

/** A lossy encoding of floats. */
export interface GradientCodec<Encoded> {
  encode(values: Float32Array): Encoded;
  decode(encoded: Encoded, length: number): Float32Array;
}

/**
 * Encodes values and what earlier encodings left out: e = C(x + r), r ← x + r − C⁻¹(e) (Seide et al., 2014, section
 * 2.1; Karimireddy et al., 2019, "Error feedback fixes SignSGD", algorithm 2). A part of the residual that is not
 * finite becomes 0: the step that caused it is not made.
 *
 * @param residual r, of the length of the values; changed in place, from zeros
 */
export function encodeWithFeedback<Encoded>(
  values: Float32Array,
  residual: Float32Array,
  codec: GradientCodec<Encoded>,
): Encoded {
  for (let i = 0; i < values.length; i++) residual[i] += values[i];
  const encoded = codec.encode(residual);
  const decoded = codec.decode(encoded, residual.length);
  for (let i = 0; i < residual.length; i++) {
    const rest = residual[i] - decoded[i];
    residual[i] = Number.isFinite(rest) ? rest : 0;
  }
  return encoded;
}
