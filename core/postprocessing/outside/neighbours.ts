/** What distances to the nearest training samples are measured from. */
export interface NeighbourReference {
  kind: 'knn';
  /** D, values of a sample. */
  size: number;
  /** Training samples as they are compared, shape `[R, D]`. */
  bank: Float32Array<ArrayBuffer>;
  /** Divides each value, shape `[D]`; null: each sample is divided by its length. */
  scale: Float32Array<ArrayBuffer> | null;
  /** k: the distance to the k-th nearest counts. */
  neighbours: number;
}

/**
 * Keeps training samples to compare with.
 *
 * @param values shape `[R, D]`
 * @param isStandardized each value is divided by its standard deviation (1 where that is 0); else each sample by its
 * length
 * @param neighbours k, at most R
 */
export function keepNeighbours(
  values: Float32Array,
  size: number,
  isStandardized: boolean,
  neighbours: number,
): NeighbourReference {
  const scale = isStandardized ? standardDeviations(values, size) : null;
  return { kind: 'knn', size, bank: scaled(values, size, scale), scale, neighbours };
}

/**
 * The Euclidean distance to the k-th nearest training sample, shape `[N]`.
 *
 * Source: Sun, Ming, Zhu and Li, "Out-of-distribution detection with deep nearest neighbors", ICML 2022, equation 4.
 *
 * @param values shape `[N, D]`
 */
export function neighbourDistances(
  { size, bank, scale, neighbours }: NeighbourReference,
  values: Float32Array,
): Float64Array {
  const own = scaled(values, size, scale);
  const nearest = new Float64Array(Math.min(neighbours, bank.length / size));
  const last = nearest.length - 1;
  return new Float64Array(values.length / size).map((_, sample) => {
    nearest.fill(Infinity);
    for (let start = 0; start < bank.length; start += size) {
      let sum = 0;
      for (let index = 0; index < size; index++) sum += (own[sample * size + index] - bank[start + index]) ** 2;
      if (Number.isNaN(sum)) return NaN;
      if (sum >= nearest[last]) continue;
      let place = last;
      for (; place > 0 && nearest[place - 1] > sum; place--) nearest[place] = nearest[place - 1];
      nearest[place] = sum;
    }
    return Math.sqrt(nearest[last]);
  });
}

function scaled(values: Float32Array, size: number, scale: Float32Array | null): Float32Array<ArrayBuffer> {
  if (scale !== null) return Float32Array.from(values, (value, index) => value / scale[index % size]);
  const result = Float32Array.from(values);
  for (let start = 0; start < values.length; start += size) {
    const row = result.subarray(start, start + size);
    const length = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));
    // A sample of zeros stays one.
    if (length !== 0) for (let index = 0; index < size; index++) row[index] /= length;
  }
  return result;
}

/** The root of a variance; 1 for a constant, whose variance may be a rounding of its mean. */
export function usableDeviation(variance: number, mean: number): number {
  return variance > (1e-8 * mean) ** 2 ? Math.sqrt(variance) : 1;
}

function standardDeviations(values: Float32Array, size: number): Float32Array<ArrayBuffer> {
  const samples = values.length / size;
  const means = new Float64Array(size);
  values.forEach((value, index) => (means[index % size] += value / samples));
  const variances = new Float64Array(size);
  values.forEach((value, index) => (variances[index % size] += (value - means[index % size]) ** 2 / samples));
  return Float32Array.from(variances, (variance, column) => usableDeviation(variance, means[column]));
}
