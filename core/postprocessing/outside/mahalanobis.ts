import { cholesky, solveLower } from '../../numeric/cholesky.ts';
import { usableDeviation } from './neighbours.ts';

/** What Mahalanobis distances are measured from. */
export interface GaussianReference {
  kind: 'mahalanobis';
  /** D, values of a sample. */
  size: number;
  /** Means of the classes, or one of all samples; shape `[K, D]`. */
  means: Float32Array<ArrayBuffer>;
  /** The inverse of the lower factor L of the covariance L Lᵀ, shape `[D, D]`. */
  whitening: Float32Array<ArrayBuffer>;
}

/**
 * Fits means of the classes and a covariance that they share. The deviations from the means, each divided by its
 * standard deviation (1 where that is 0), have the covariance (1 − s) C + s I with the shrinkage s of Ledoit and Wolf,
 * so that it can be inverted for any number of samples.
 *
 * Sources: Lee, Lee, Lee and Shin, "A simple unified framework for detecting out-of-distribution samples and
 * adversarial attacks", NeurIPS 2018; Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance
 * matrices", Journal of Multivariate Analysis 88, 2004.
 *
 * @param values of training samples, shape `[N, D]`
 * @param labels the class of each sample, shape `[N]`; null: one mean of all
 */
export function fitGaussian(values: Float32Array, size: number, labels: Int32Array | null): GaussianReference {
  const samples = values.length / size;
  const { means, places } = classMeans(values, size, labels);
  const residuals = new Float64Array(values.length).map(
    (_, index) => values[index] - means[places[Math.floor(index / size)] * size + (index % size)],
  );
  const deviations = new Float64Array(size);
  residuals.forEach((value, index) => (deviations[index % size] += value ** 2 / samples));
  deviations.forEach((variance, column) => (deviations[column] = usableDeviation(variance, means[column])));
  residuals.forEach((value, index) => (residuals[index] = value / deviations[index % size]));
  const factor = cholesky(shrunkCovariance(residuals, size), size);
  if (factor === null) {
    throw new RangeError(
      `The ${samples} training samples have values that are not finite, so there is no Mahalanobis distance to ` +
        'them. Take another score: --outside.',
    );
  }
  const whitening = new Float32Array(size * size);
  for (let column = 0; column < size; column++) {
    const unit = new Float64Array(size);
    unit[column] = 1;
    solveLower(factor, unit);
    for (let row = column; row < size; row++) whitening[row * size + column] = unit[row] / deviations[column];
  }
  return { kind: 'mahalanobis', size, means: Float32Array.from(means), whitening };
}

/**
 * The distance to the nearest mean, min_k √((x − μ_k)ᵀ Σ⁻¹ (x − μ_k)), shape `[N]`.
 *
 * @param values shape `[N, D]`
 */
export function gaussianDistances({ size, means, whitening }: GaussianReference, values: Float32Array): Float64Array {
  const centres = Array.from({ length: means.length / size }, (_, place) =>
    whiten(whitening, means.subarray(place * size, (place + 1) * size)),
  );
  return new Float64Array(values.length / size).map((_, sample) => {
    const own = whiten(whitening, values.subarray(sample * size, (sample + 1) * size));
    let nearest = Infinity;
    for (const centre of centres) {
      let sum = 0;
      for (let index = 0; index < size; index++) sum += (own[index] - centre[index]) ** 2;
      if (!(sum >= nearest)) nearest = sum;
    }
    return Math.sqrt(nearest);
  });
}

function whiten(whitening: Float32Array, value: Float32Array): Float64Array {
  const size = value.length;
  const result = new Float64Array(size);
  for (let row = 0; row < size; row++) {
    let sum = 0;
    for (let column = 0; column <= row; column++) sum += whitening[row * size + column] * value[column];
    result[row] = sum;
  }
  return result;
}

/** Means of the classes that have samples, shape `[K, D]`, and the place of each sample's among them. */
function classMeans(values: Float32Array, size: number, labels: Int32Array | null) {
  const samples = values.length / size;
  const present = labels === null ? [0] : [...new Set(labels)].sort((left, right) => left - right);
  const places = Int32Array.from({ length: samples }, (_, sample) =>
    labels === null ? 0 : present.indexOf(labels[sample]),
  );
  const means = new Float64Array(present.length * size);
  const counts = new Float64Array(present.length);
  for (const place of places) counts[place] += 1;
  values.forEach((value, index) => {
    const place = places[Math.floor(index / size)];
    means[place * size + (index % size)] += value / counts[place];
  });
  return { means, places };
}

/** Below this shrinkage, a covariance without full rank could not be factorized in doubles. */
const LEAST_SHRINKAGE = 1e-6;

/**
 * (1 − s) C + s m I, where C = XᵀX / N, m is the mean of its diagonal, and s = min(β, δ) / δ with δ = |C − m I|² / D
 * and β = (1/N sum_n |x_n|⁴ − |C|²) / (N D).
 *
 * @param centred X, shape `[N, D]`
 */
function shrunkCovariance(centred: Float64Array, size: number): Float64Array {
  const samples = centred.length / size;
  const covariance = new Float64Array(size * size);
  let fourth = 0;
  for (let start = 0; start < centred.length; start += size) {
    let square = 0;
    for (let row = 0; row < size; row++) {
      const value = centred[start + row];
      square += value * value;
      for (let column = 0; column <= row; column++) covariance[row * size + column] += value * centred[start + column];
    }
    fourth += square * square;
  }
  let [norm, trace] = [0, 0];
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      const value = (covariance[row * size + column] /= samples);
      covariance[column * size + row] = value;
      norm += (column === row ? 1 : 2) * value * value;
    }
    trace += covariance[row * size + row];
  }
  const mean = trace / size;
  const delta = (norm - size * mean * mean) / size;
  const beta = Math.min((fourth / samples - norm) / (samples * size), delta);
  // All deviations are 0 where there is one sample for each mean.
  const isKnown = trace > 0;
  const shrinkage = isKnown ? Math.max(delta > 0 ? beta / delta : 0, LEAST_SHRINKAGE) : 1;
  const target = isKnown ? mean : 1;
  return covariance.map(
    (value, index) => (1 - shrinkage) * value + (index % (size + 1) === 0 ? shrinkage * target : 0),
  );
}
