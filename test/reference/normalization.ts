import { mean, reshape, variance } from './arrays.ts';
import { add, affine, apply, multiply, subtract } from './elementwise.ts';
import type { Value } from './value.ts';

/** (x − μ) / √(σ² + ε) · γ + β, all of shapes that broadcast to x's. */
export function normalize(
  x: Value,
  mu: Value,
  sigmaSquared: Value,
  gamma: Value | null,
  beta: Value | null,
  epsilon: number,
): Value {
  const normed = multiply(subtract(x, mu), apply('rsqrt', affine(sigmaSquared, 1, epsilon)));
  const scaled = gamma === null ? normed : multiply(normed, gamma);
  return beta === null ? scaled : add(scaled, beta);
}

export interface Normalization {
  /** The axes that have weights. */
  readonly axes: readonly number[];
  readonly epsilon: number;
}

/** Weights of some axes, with the sizes that broadcast to a value's shape. */
function along(axes: readonly number[], shape: readonly number[], weight: Value | null): Value | null {
  return (
    weight &&
    reshape(
      weight,
      shape.map((size, axis) => (axes.includes(axis) ? size : 1)),
    )
  );
}

/** Ioffe and Szegedy (2015), with the batch's biased moments over all axes except `axes`. */
export function batchNormalization(
  x: Value,
  gamma: Value | null,
  beta: Value | null,
  { axes, epsilon }: Normalization,
) {
  const others = x.shape.map((_, axis) => axis).filter((axis) => !axes.includes(axis));
  const weights = [gamma, beta].map((weight) => along(axes, x.shape, weight));
  return normalize(x, mean(x, others), variance(x, others), weights[0], weights[1], epsilon);
}

/** With given moments. */
export function batchNormalizationInPrediction(
  x: Value,
  [gamma, beta, mu, sigmaSquared]: readonly (Value | null)[],
  { axes, epsilon }: Normalization,
) {
  const [mus, variances] = [mu, sigmaSquared].map((moment) => along(axes, x.shape, moment));
  if (mus === null || variances === null) throw new Error('Prediction needs the moving moments.');
  return normalize(x, mus, variances, along(axes, x.shape, gamma), along(axes, x.shape, beta), epsilon);
}

/** Ba et al. (2016): the moments of each sample over `axes`. */
export function layerNormalization(
  x: Value,
  gamma: Value | null,
  beta: Value | null,
  { axes, epsilon }: Normalization,
) {
  const weights = [gamma, beta].map((weight) => along(axes, x.shape, weight));
  return normalize(x, mean(x, axes), variance(x, axes), weights[0], weights[1], epsilon);
}
