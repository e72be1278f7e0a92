import { cholesky, invert, solveLower, solveUpper } from '../../../numeric/cholesky.ts';
import { minimize, type Evaluation } from '../../../numeric/minimize.ts';
import { matern, maternSlope, squaredDifference, type Covariance } from './regression.ts';

const minimumNoise = 1e-6;

/**
 * The covariance of largest posterior density: the marginal likelihood of the targets with priors that keep lengths
 * near 1, the scale near 1 and the noise small (those of Optuna's `GPSampler`).
 *
 * @param points shape [N][dimensions]
 * @param targets shape [N], with mean 0 and deviation 1
 */
export function fitCovariance(
  points: readonly Float64Array[],
  targets: Float64Array,
  choices: readonly boolean[],
): Covariance {
  const dimensions = choices.length;
  const evaluate = logPosterior(points, targets, choices);
  const start = new Float64Array(dimensions + 2);
  const { place } = minimize(evaluate, start, {
    lower: new Float64Array(dimensions + 2).fill(-20),
    upper: new Float64Array(dimensions + 2).fill(20),
    tolerance: 1e-3,
  });
  return covarianceOf(place);
}

/** Makes a covariance from the logarithms of the precisions, the scale, and the noise above its minimum. */
export function covarianceOf(logs: Float64Array): Covariance {
  const values = logs.map(Math.exp);
  const dimensions = logs.length - 2;
  return {
    precisions: values.slice(0, dimensions),
    scale: values[dimensions],
    noise: values[dimensions + 1] + minimumNoise,
  };
}

/**
 * -ln of the posterior density up to a constant, with its gradient by the logarithms that {@link covarianceOf} takes.
 */
export function logPosterior(
  points: readonly Float64Array[],
  targets: Float64Array,
  choices: readonly boolean[],
): (logs: Float64Array) => Evaluation {
  const differences = choices.map((isChoice, dimension) => differencesOf(points, dimension, isChoice));
  return (logs) => {
    const covariance = covarianceOf(logs);
    const likelihood = logLikelihood(differences, targets, covariance);
    if (likelihood === null) return { value: Infinity, gradient: new Float64Array(logs.length) };
    const { precisions, scale, noise } = covariance;
    const last = precisions.length;
    const priors = precisions.reduce((sum, precision) => sum - 0.1 / precision - 0.1 * precision, 0);
    const value = likelihood.value + priors + Math.log(scale) - scale + 0.1 * Math.log(noise) - 30 * noise;
    const gradient = likelihood.gradient;
    for (const [index, precision] of precisions.entries()) gradient[index] += 0.1 / precision - 0.1 * precision;
    gradient[last] += 1 - scale;
    gradient[last + 1] += (0.1 / noise - 30) * (noise - minimumNoise);
    return { value: -value, gradient: gradient.map((slope) => -slope) };
  };
}

/** The lower triangle of squared differences in a dimension, row by row. */
function differencesOf(points: readonly Float64Array[], dimension: number, isChoice: boolean): Float64Array {
  const found = new Float64Array((points.length * (points.length - 1)) / 2);
  let index = 0;
  for (let row = 1; row < points.length; row++) {
    for (let column = 0; column < row; column++) {
      found[index++] = squaredDifference(points[row][dimension], points[column][dimension], isChoice);
    }
  }
  return found;
}

/**
 * ln p(y) + N/2 ln 2π = -yᵀC⁻¹y / 2 - ln|C| / 2 and its gradient tr((ααᵀ - C⁻¹) ∂C) / 2 with α = C⁻¹y; null for a
 * singular C (Rasmussen and Williams, 2006, equations 5.8 and 5.9).
 */
function logLikelihood(
  differences: readonly Float64Array[],
  targets: Float64Array,
  { precisions, scale, noise }: Covariance,
): Evaluation | null {
  const size = targets.length;
  const distances = new Float64Array((size * (size - 1)) / 2);
  for (const [dimension, precision] of precisions.entries()) {
    for (let pair = 0; pair < distances.length; pair++) distances[pair] += precision * differences[dimension][pair];
  }
  const matrix = new Float64Array(size * size);
  for (let row = 0, pair = 0; row < size; row++) {
    for (let column = 0; column < row; column++) matrix[row * size + column] = scale * matern(distances[pair++]);
    matrix[row * size + row] = scale + noise;
  }
  const factor = cholesky(matrix, size);
  if (factor === null) return null;
  const weights = targets.slice();
  solveLower(factor, weights);
  solveUpper(factor, weights);
  let value = 0;
  for (let row = 0; row < size; row++) value -= (targets[row] * weights[row]) / 2 + Math.log(factor[row * size + row]);
  const gradient = gradientOf(differences, distances, { precisions, scale, noise }, weights, invert(factor, size));
  return { value, gradient };
}

/** tr((ααᵀ - C⁻¹) ∂C) / 2 by each logarithm. Off the diagonal each pair counts twice, which cancels the half. */
function gradientOf(
  differences: readonly Float64Array[],
  distances: Float64Array,
  { precisions, scale, noise }: Covariance,
  weights: Float64Array,
  inverse: Float64Array,
): Float64Array {
  const size = weights.length;
  const last = precisions.length;
  const gradient = new Float64Array(last + 2);
  let trace = 0;
  for (let row = 0, pair = 0; row < size; row++) {
    for (let column = 0; column < row; column++, pair++) {
      const share = (weights[row] * weights[column] - inverse[row * size + column]) * scale;
      gradient[last] += share * matern(distances[pair]);
      const slope = share * maternSlope(distances[pair]);
      for (let dimension = 0; dimension < last; dimension++) {
        gradient[dimension] += slope * precisions[dimension] * differences[dimension][pair];
      }
    }
    trace += (weights[row] ** 2 - inverse[row * size + row]) / 2;
  }
  gradient[last] += trace * scale;
  gradient[last + 1] = trace * (noise - minimumNoise);
  return gradient;
}
