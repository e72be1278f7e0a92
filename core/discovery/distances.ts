/**
 * How far two candidates are apart: by their coordinates, or by the features that they share, as chemists compare
 * fingerprints.
 */
export const distanceKinds = ['euclidean', 'tanimoto'] as const;
export type DistanceKind = (typeof distanceKinds)[number];

/** Features of the pool's candidates: rows of D numbers each, of which a search for diversity reads some. */
export interface PoolFeatures {
  /** D. */
  width: number;
  /** Shape `[N, D]`; where packed `[N, 4⌈D/32⌉]`, feature d of a candidate in bit d mod 8 of byte ⌊d/8⌋. */
  values: Float32Array | Uint8Array;
  /** Whether features are bits; absent: they are numbers. */
  isPacked?: boolean;
  /** Absent: Euclidean. */
  distance?: DistanceKind;
}

/**
 * The squared distance of a candidate x to a point y of D coordinates: ‖x − y‖² (Euclidean), or (1 − s)² with the
 * Tanimoto coefficient s = x·y / (‖x‖² + ‖y‖² − x·y), which of bits is the share of common ones among those that either
 * has. Two vectors of zeros are equal: their distance is 0. Source: Willett, Barnard and Downs, "Chemical similarity
 * searching", J. Chem. Inf. Comput. Sci. 1998, table 3.
 */
export function squaredDistance(features: PoolFeatures, candidate: number, point: ArrayLike<number>): number {
  const row = rowOf(features, candidate);
  return features.distance === 'tanimoto' ? tanimotoDistance(row, point) ** 2 : squaredEuclidean(row, point);
}

function squaredEuclidean(row: ArrayLike<number>, point: ArrayLike<number>): number {
  let sum = 0;
  for (let d = 0; d < row.length; d++) {
    const difference = row[d] - point[d];
    sum += difference * difference;
  }
  return sum;
}

function tanimotoDistance(row: ArrayLike<number>, point: ArrayLike<number>): number {
  let [common, either] = [0, 0];
  for (let d = 0; d < row.length; d++) {
    const product = row[d] * point[d];
    common += product;
    either += row[d] * row[d] + point[d] * point[d] - product;
  }
  return either === 0 ? 0 : 1 - common / either;
}

/** The D features of a candidate. */
export function rowOf({ width, values, isPacked = false }: PoolFeatures, candidate: number): Float32Array | Uint8Array {
  if (!isPacked) return values.subarray(candidate * width, (candidate + 1) * width);
  const from = candidate * packedBytes(width);
  const row = new Uint8Array(width);
  for (let d = 0; d < width; d++) row[d] = (values[from + (d >> 3)] >> (d & 7)) & 1;
  return row;
}

/** Bytes of a candidate's D bits: whole words of four bytes. */
function packedBytes(width: number): number {
  return Math.ceil(width / 32) * 4;
}

/**
 * Features as bits, shape `[N, 4⌈D/32⌉]`: a thirty-second of their size as numbers.
 * @param bytes 0 or 255 each, shape `[N, D]`
 * @returns null where another byte occurs
 */
export function packBits(bytes: Uint8Array, width: number): Uint8Array<ArrayBuffer> | null {
  const bytesEach = packedBytes(width);
  const packed = new Uint8Array((bytes.length / width) * bytesEach);
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === 0) continue;
    if (bytes[i] !== 255) return null;
    const d = i % width;
    packed[Math.floor(i / width) * bytesEach + (d >> 3)] |= 1 << (d & 7);
  }
  return packed;
}
