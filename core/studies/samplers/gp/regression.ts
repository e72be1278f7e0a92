import { cholesky, solveLower, solveUpper } from '../../../numeric/cholesky.ts';
import type { Space } from '../../space/space.ts';

/**
 * Parameters of the covariance s · m(r) + noise, with r² = Σ (xᵢ - x'ᵢ)² · precision_i; choices that differ are at
 * distance 1.
 */
export interface Covariance {
  /** 1 / length², one for each dimension. */
  precisions: Float64Array;
  scale: number;
  noise: number;
}

export const isChoice = (space: Space): boolean[] => space.map(({ domain }) => domain.kind === 'choice');

/** Matérn's function of smoothness 5/2 of a squared distance: (1 + √5 r + 5 r²/3) exp(-√5 r). */
export function matern(squaredDistance: number): number {
  const root = Math.sqrt(5 * squaredDistance);
  return (1 + root + (5 / 3) * squaredDistance) * Math.exp(-root);
}

/** The derivative of {@link matern} by the squared distance: -5/6 (1 + √5 r) exp(-√5 r). */
export function maternSlope(squaredDistance: number): number {
  const root = Math.sqrt(5 * squaredDistance);
  return (-5 / 6) * (1 + root) * Math.exp(-root);
}

/** The squared difference of a coordinate. */
export function squaredDifference(left: number, right: number, isChoice: boolean): number {
  return isChoice ? Number(left !== right) : (left - right) ** 2;
}

/**
 * A Gaussian process of mean 0 that was fitted to points.
 *
 * Source: Rasmussen and Williams, "Gaussian processes for machine learning", 2006, algorithm 2.1.
 */
export class Regression {
  readonly #points: readonly Float64Array[];
  readonly #choices: readonly boolean[];
  readonly #covariance: Covariance;
  readonly #factor: Float64Array;
  readonly #weights: Float64Array;

  /**
   * @param points shape [N][dimensions]
   * @param targets shape [N]
   * @throws RangeError when the covariance is singular in doubles: more noise helps
   */
  constructor(
    points: readonly Float64Array[],
    targets: Float64Array,
    choices: readonly boolean[],
    covariance: Covariance,
  ) {
    [this.#points, this.#choices, this.#covariance] = [points, choices, covariance];
    const size = points.length;
    const matrix = new Float64Array(size * size);
    for (let row = 0; row < size; row++) {
      for (let column = 0; column < row; column++)
        matrix[row * size + column] = this.#covary(points[row], points[column]);
      matrix[row * size + row] = covariance.scale + covariance.noise;
    }
    const factor = cholesky(matrix, size);
    if (factor === null) {
      throw new RangeError(
        `The covariance of ${size} points is singular at a noise of ${covariance.noise}: raise the noise.`,
      );
    }
    this.#factor = factor;
    this.#weights = targets.slice();
    solveLower(factor, this.#weights);
    solveUpper(factor, this.#weights);
  }

  /** Mean and variance of the function, without the noise, at a point. */
  predict(point: Float64Array): { mean: number; variance: number } {
    const { mean, variance } = this.#solve(point);
    return { mean, variance };
  }

  /** {@link predict} with the gradients by the point; those of choices are 0. */
  predictWithGradients(point: Float64Array): {
    mean: number;
    variance: number;
    meanGradient: Float64Array;
    varianceGradient: Float64Array;
  } {
    const { mean, variance, solved } = this.#solve(point);
    solveUpper(this.#factor, solved);
    const [meanGradient, varianceGradient] = [new Float64Array(point.length), new Float64Array(point.length)];
    const { precisions, scale } = this.#covariance;
    for (const [index, other] of this.#points.entries()) {
      const slope = 2 * scale * maternSlope(this.#distance(point, other));
      for (let dimension = 0; dimension < point.length; dimension++) {
        if (this.#choices[dimension]) continue;
        const covarianceSlope = slope * precisions[dimension] * (point[dimension] - other[dimension]);
        meanGradient[dimension] += covarianceSlope * this.#weights[index];
        varianceGradient[dimension] -= 2 * covarianceSlope * solved[index];
      }
    }
    return { mean, variance, meanGradient, varianceGradient };
  }

  #solve(point: Float64Array): { mean: number; variance: number; solved: Float64Array } {
    const solved = Float64Array.from(this.#points, (other) => this.#covary(point, other));
    const mean = solved.reduce((sum, covariance, index) => sum + covariance * this.#weights[index], 0);
    solveLower(this.#factor, solved);
    const explained = solved.reduce((sum, value) => sum + value * value, 0);
    return { mean, variance: Math.max(this.#covariance.scale - explained, 1e-14), solved };
  }

  #covary(left: Float64Array, right: Float64Array): number {
    return this.#covariance.scale * matern(this.#distance(left, right));
  }

  #distance(left: Float64Array, right: Float64Array): number {
    const { precisions } = this.#covariance;
    let sum = 0;
    for (let dimension = 0; dimension < left.length; dimension++) {
      sum += precisions[dimension] * squaredDifference(left[dimension], right[dimension], this.#choices[dimension]);
    }
    return sum;
  }
}
