import { UMAP } from 'umap-js';
import { principalComponents, projectRows } from '../../core/numeric/principal-components.ts';
import { Generator } from '../../core/random/generator.ts';
import { type Dataset, gatherBatch } from './dataset.ts';
import { placeByNeighbours } from './pool-neighbours.ts';

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
