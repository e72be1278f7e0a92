import { UMAP } from 'umap-js';
import { principalComponents, projectRows } from '../../core/numeric/principal-components.ts';
import { Generator } from '../../core/random/generator.ts';
import { type Dataset, gatherBatch } from './dataset.ts';

/** Points whose places on a map are known. */
interface Landmarks {
  /** Their coordinates, shape `[n, k]`. */
  places: Float64Array;
  /** Where they lie on the map, shape `[n, 2]`. */
  arranged: Float64Array;
}

/**
 * Places points on a map: each in the mean of its nearest landmarks, weighted by 1 / distance; on a landmark where it
 * has the landmark's coordinates.
 * @param points shape `[N, k]`
 * @param width k
 * @param count nearest landmarks that count
 * @returns shape `[N, 2]`
 */
export function placeByNeighbours(
  points: Float64Array,
  landmarks: Landmarks,
  width: number,
  count: number,
): Float32Array<ArrayBuffer> {
  const size = width === 0 ? landmarks.arranged.length / 2 : points.length / width;
  const placed = new Float32Array(2 * size);
  const nearest = new Nearest(Math.min(count, landmarks.arranged.length / 2));
  for (let point = 0; point < size; point++) {
    nearest.clear();
    for (let mark = 0; mark < landmarks.arranged.length / 2; mark++) {
      const bound = nearest.furthest;
      let square = 0;
      for (let at = 0; at < width && square < bound; at++) {
        const difference = points[point * width + at] - landmarks.places[mark * width + at];
        square += difference * difference;
      }
      if (square < bound) nearest.add(mark, square);
    }
    placed.set(nearest.meanOf(landmarks.arranged), 2 * point);
  }
  return placed;
}

/** The nearest landmarks of a point so far, by rising distance. */
class Nearest {
  readonly #most: number;
  readonly #marks: number[] = [];
  readonly #squares: number[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** A further landmark counts if the square of its distance is smaller. */
  get furthest(): number {
    return this.#marks.length < this.#most ? Infinity : this.#squares[this.#squares.length - 1];
  }

  clear(): void {
    this.#marks.length = 0;
    this.#squares.length = 0;
  }

  add(mark: number, square: number): void {
    if (this.#marks.length === this.#most) {
      this.#marks.pop();
      this.#squares.pop();
    }
    let place = this.#marks.length;
    while (place > 0 && this.#squares[place - 1] > square) place--;
    this.#marks.splice(place, 0, mark);
    this.#squares.splice(place, 0, square);
  }

  meanOf(arranged: Float64Array): [number, number] {
    let [x, y, total] = [0, 0, 0];
    for (const [at, mark] of this.#marks.entries()) {
      if (this.#squares[at] === 0) return [arranged[2 * mark], arranged[2 * mark + 1]];
      const weight = 1 / Math.sqrt(this.#squares[at]);
      x += weight * arranged[2 * mark];
      y += weight * arranged[2 * mark + 1];
      total += weight;
    }
    return [x / total, y / total];
  }
}

/** Candidates that decide the map. The others take their places among them. */
const mostLandmarks = 3000;
/** Values of the landmarks at most: samples with many features, such as images, have fewer landmarks. */
const mostValues = 4_000_000;
const fewestLandmarks = 200;
/** Directions in which UMAP looks for neighbours. */
const directions = 30;
/** Finer differences between the directions cannot be seen on a map. */
const tolerance = 1e-5;
/** Neighbours of UMAP, and those that give a candidate its place. */
const neighbours = 15;
/** Candidates that are read at a time. */
const blockSize = 1000;

/** Places of the N candidates of a pool on two maps. */
export interface PoolMap {
  /** Along the first two principal components, shape `[N, 2]`. */
  pca: Float32Array<ArrayBuffer>;
  /** Shares of the variance along them. */
  explained: [number, number];
  /** By UMAP, shape `[N, 2]`. */
  umap: Float32Array<ArrayBuffer>;
}

/**
 * Maps a pool. Up to 3,000 candidates drawn at random are landmarks: they decide the principal components, and UMAP (15
 * neighbours, least distance 0.1) arranges them by their first 30 components. Another candidate lies in the mean of its
 * 15 nearest landmarks, each weighted by 1 / distance. Source: McInnes, Healy and Melville, "UMAP: Uniform Manifold
 * Approximation and Projection for Dimension Reduction", 2018.
 */
export function mapPool(pool: Dataset, seed: number): PoolMap {
  const width = pool.featureShape.reduce((size, own) => size * own, 1);
  const generator = new Generator(seed, 'discovery map');
  const count = Math.min(pool.length, mostLandmarks, Math.max(fewestLandmarks, Math.floor(mostValues / width)));
  const landmarks = generator.permutation(pool.length).slice(0, count).sort();
  const components = principalComponents({ values: rowsOf(pool, landmarks), width }, directions, {
    generator,
    tolerance,
  });
  const kept = components.variances.length;
  const places = new Float64Array(pool.length * kept);
  for (let start = 0; start < pool.length; start += blockSize) {
    const block = Int32Array.from({ length: Math.min(blockSize, pool.length - start) }, (_, i) => start + i);
    places.set(projectRows(components, { values: rowsOf(pool, block), width }), start * kept);
  }
  const { variances, totalVariance } = components;
  return {
    pca: Float32Array.from({ length: 2 * pool.length }, (_, i) => places[(i >> 1) * kept + (i & 1)] ?? 0),
    explained: [(variances[0] ?? 0) / totalVariance || 0, (variances[1] ?? 0) / totalVariance || 0],
    umap: arrange({ places, kept }, landmarks, generator),
  };
}

function arrange(
  { places, kept }: { places: Float64Array; kept: number },
  landmarks: Int32Array,
  generator: Generator,
): Float32Array<ArrayBuffer> {
  const rows = Array.from(landmarks, (candidate) =>
    Array.from(places.subarray(candidate * kept, (candidate + 1) * kept)),
  );
  const arranged = new UMAP({
    nNeighbors: Math.min(neighbours, rows.length - 1),
    minDist: 0.1,
    random: () => generator.uniform(),
  }).fit(rows);
  const landmarkPlaces = Float64Array.from(rows.flat());
  return placeByNeighbours(
    places,
    { places: landmarkPlaces, arranged: Float64Array.from(arranged.flat()) },
    kept,
    neighbours,
  );
}

function rowsOf(pool: Dataset, indices: Int32Array): Float32Array {
  return new Float32Array(gatherBatch(pool, indices).features);
}
