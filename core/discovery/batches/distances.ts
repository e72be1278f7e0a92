/** Features of the pool's candidates: rows of D numbers each, of which a search for diversity reads some. */
export interface PoolFeatures {
  /** D. */
  width: number;
  /** Shape `[N, D]`. */
  values: Float32Array | Uint8Array;
}

/** The squared Euclidean distance of a candidate to a point of D coordinates. */
export function squaredDistance({ width, values }: PoolFeatures, candidate: number, point: ArrayLike<number>): number {
  const from = candidate * width;
  let sum = 0;
  for (let d = 0; d < width; d++) {
    const difference = values[from + d] - point[d];
    sum += difference * difference;
  }
  return sum;
}

/** The D features of a candidate. */
export function rowOf({ width, values }: PoolFeatures, candidate: number): Float32Array | Uint8Array {
  return values.subarray(candidate * width, (candidate + 1) * width);
}
