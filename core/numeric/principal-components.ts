import type { Generator } from '../random/generator.ts';
import { symmetricEigenvectors } from './symmetric-eigenvectors.ts';

/** The directions along which rows vary most. Legend: d columns, k directions. */
export interface PrincipalComponents {
  /** Mean of each column, shape `[d]`. */
  mean: Float64Array;
  /**
   * Unit vectors by falling variance, shape `[k, d]`, row-major. In each the element of the largest magnitude is
   * positive, as in scikit-learn.
   */
  directions: Float64Array;
  /** Variance along each, with n − 1 in the denominator, shape `[k]`. */
  variances: Float64Array;
  /** Sum of the variances of all columns. */
  totalVariance: number;
}

/** Rows of d values, row-major. */
export interface Rows {
  values: Float32Array | Float64Array;
  /** d. */
  width: number;
}

/**
 * Principal components analysis: the eigenvectors of the covariance matrix, or of the matrix of inner products of the
 * rows where that is smaller.
 * @param count k; fewer where the rows do not vary in so many directions
 * @param options the generator draws where the search for eigenvectors starts, and the tolerance says where it ends;
 * see `symmetricEigenvectors`
 * @throws RangeError for fewer than two rows
 */
export function principalComponents(
  { values, width }: Rows,
  count: number,
  { generator, tolerance }: { generator: Generator; tolerance?: number },
): PrincipalComponents {
  const size = values.length / width;
  if (!(size >= 2)) throw new RangeError(`Principal components need at least two rows, and there are ${size}.`);
  const mean = columnMeans(values, width);
  const centred = Float64Array.from(values, (value, i) => value - mean[i % width]);
  const totalVariance = centred.reduce((sum, value) => sum + value * value, 0) / (size - 1);
  const isTall = size >= width;
  const products = isTall ? columnProducts(centred, width) : rowProducts(centred, width);
  const { values: eigenvalues, vectors } = symmetricEigenvectors(
    products,
    Math.min(count, size, width),
    generator,
    tolerance,
  );
  // Below this share of the largest one, an eigenvalue is rounding.
  const kept = eigenvalues.filter((value) => value > 1e-12 * eigenvalues[0]).length;
  const length = isTall ? width : size;
  const directions = new Float64Array(kept * width);
  for (let k = 0; k < kept; k++) {
    const vector = vectors.subarray(k * length, (k + 1) * length);
    const direction = directions.subarray(k * width, (k + 1) * width);
    if (isTall) direction.set(vector);
    else combineRows(centred, vector, direction, 1 / Math.sqrt(eigenvalues[k]));
    orient(direction);
  }
  return { mean, directions, variances: eigenvalues.slice(0, kept).map((value) => value / (size - 1)), totalVariance };
}

/** The coordinates of rows along the directions, shape `[n, k]`. */
export function projectRows(
  { mean, directions, variances }: PrincipalComponents,
  { values, width }: Rows,
): Float64Array {
  const [size, count] = [values.length / width, variances.length];
  const places = new Float64Array(size * count);
  const centred = new Float64Array(width);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < width; column++) centred[column] = values[row * width + column] - mean[column];
    for (let k = 0; k < count; k++) {
      let sum = 0;
      for (let column = 0; column < width; column++) sum += centred[column] * directions[k * width + column];
      places[row * count + k] = sum;
    }
  }
  return places;
}

function columnMeans(values: Rows['values'], width: number): Float64Array {
  const mean = new Float64Array(width);
  for (let i = 0; i < values.length; i++) mean[i % width] += values[i];
  return mean.map((sum) => sum / (values.length / width));
}

/** XᵀX, shape `[d, d]`. Zeros of sparse rows, such as fingerprints, cost nothing. */
function columnProducts(centred: Float64Array, width: number): Float64Array {
  const products = new Float64Array(width * width);
  for (let start = 0; start < centred.length; start += width) {
    for (let i = 0; i < width; i++) {
      const value = centred[start + i];
      if (value === 0) continue;
      for (let j = i; j < width; j++) products[i * width + j] += value * centred[start + j];
    }
  }
  return mirrored(products, width);
}

/** XXᵀ, shape `[n, n]`. */
function rowProducts(centred: Float64Array, width: number): Float64Array {
  const size = centred.length / width;
  const products = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = i; j < size; j++) {
      let sum = 0;
      for (let column = 0; column < width; column++) sum += centred[i * width + column] * centred[j * width + column];
      products[i * size + j] = sum;
    }
  }
  return mirrored(products, size);
}

function mirrored(upper: Float64Array, size: number): Float64Array {
  for (let i = 0; i < size; i++) for (let j = 0; j < i; j++) upper[i * size + j] = upper[j * size + i];
  return upper;
}

/** direction = factor · Xᵀ weights. */
function combineRows(centred: Float64Array, weights: Float64Array, direction: Float64Array, factor: number): void {
  const width = direction.length;
  weights.forEach((weight, row) => {
    for (let column = 0; column < width; column++) direction[column] += factor * weight * centred[row * width + column];
  });
}

function orient(direction: Float64Array): void {
  const largest = direction.reduce((best, value) => (Math.abs(value) > Math.abs(best) ? value : best), 0);
  if (largest < 0) for (let i = 0; i < direction.length; i++) direction[i] = -direction[i];
}
