/**
 * The constants of activations lie in a table, of which {@link coefficientCount} values follow each `Sequence`: V8
 * builds a constant vector from several instructions at each use, but loads a value to all lanes by one. Names are
 * offsets in bytes.
 */
export const coefficientCount: i32 = 28;

export const one: usize = 0;
/** -87 and 87, beyond which e⁻ˣ is not a normal number. */
export const leastExponent: usize = 4;
export const mostExponent: usize = 8;
/** log₂ e. */
export const binaryLogarithm: usize = 12;
/** 1.5 · 2²³. */
export const rounder: usize = 16;
/** -ln 2 in two parts. */
export const minusLogarithm: usize = 20;
export const minusLogarithmRest: usize = 24;
/** Six coefficients of Cephes's expf, from the highest power. */
export const exponentials: usize = 28;
/** The arguments where tanh ends. */
export const leastTangent: usize = 52;
export const mostTangent: usize = 56;
/** Seven coefficients of P and four of Q, from the highest power. */
export const numerators: usize = 60;
export const denominators: usize = 88;
/** Of the hard sigmoid. */
export const hardSlope: usize = 104;
export const half: usize = 108;

/** Writes the table. */
export function writeCoefficients(table: usize): void {
  store<f32>(table, 1, one);
  store<f32>(table, -87, leastExponent);
  store<f32>(table, 87, mostExponent);
  store<f32>(table, 1.442695, binaryLogarithm);
  store<f32>(table, 12582912, rounder);
  store<f32>(table, -0.693359375, minusLogarithm);
  store<f32>(table, 2.1219444e-4, minusLogarithmRest);
  store<f32>(table, 1.98756915e-4, exponentials);
  store<f32>(table, 1.3981999507e-3, exponentials + 4);
  store<f32>(table, 8.3334519073e-3, exponentials + 8);
  store<f32>(table, 4.1665795894e-2, exponentials + 12);
  store<f32>(table, 1.6666665459e-1, exponentials + 16);
  store<f32>(table, 5.0000001201e-1, exponentials + 20);
  store<f32>(table, -7.90531110763549805, leastTangent);
  store<f32>(table, 7.90531110763549805, mostTangent);
  store<f32>(table, -2.76076847742355e-16, numerators);
  store<f32>(table, 2.00018790482477e-13, numerators + 4);
  store<f32>(table, -8.60467152213735e-11, numerators + 8);
  store<f32>(table, 5.12229709037114e-8, numerators + 12);
  store<f32>(table, 1.48572235717979e-5, numerators + 16);
  store<f32>(table, 6.37261928875436e-4, numerators + 20);
  store<f32>(table, 4.89352455891786e-3, numerators + 24);
  store<f32>(table, 1.19825839466702e-6, denominators);
  store<f32>(table, 1.18534705686654e-4, denominators + 4);
  store<f32>(table, 2.268434632439e-3, denominators + 8);
  store<f32>(table, 4.89352518554385e-3, denominators + 12);
  store<f32>(table, 0.2, hardSlope);
  store<f32>(table, 0.5, half);
}
