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
