import type { Generator } from '../random/generator.ts';
import { type PoolFeatures, rowOf, squaredDistance } from './distances.ts';

const mostIterations = 50;

/**
 * Chooses one candidate of each of `count` clusters of the shortlist: its best one. Clusters are those of k-means with
 * centres drawn by k-means++. A cluster that is empty, because candidates are equal, gives its place to the best
 * candidate that is not chosen. With Tanimoto distances a centre is the mean of its points too, compared by the
 * coefficient for numbers. Sources: Lloyd, "Least squares quantization in PCM", 1982; Arthur and Vassilvitskii,
 * "k-means++: the advantages of careful seeding", 2007.
 * @param shortlist indices of the pool, best first
 */
export function chooseClusters(
  features: PoolFeatures,
  shortlist: Int32Array,
  count: number,
  generator: Generator,
): Int32Array {
  if (count >= shortlist.length) return shortlist;
  const clusters = lloyd(features, shortlist, drawCentres(features, shortlist, count, generator));
  const firstPlaces = Array.from({ length: count }, (_, cluster) => clusters.indexOf(cluster)).filter(
    (place) => place >= 0,
  );
  const chosen = new Set(firstPlaces.sort((a, b) => a - b));
  for (let place = 0; chosen.size < count; place++) chosen.add(place);
  return Int32Array.from(chosen, (place) => shortlist[place]);
}

/**
 * The cluster of each point after Lloyd's iterations, which end once no point changes its cluster. Equal distances fall
 * to the earlier centre.
 * @param points indices of the pool
 * @param centres shape `[K][D]`; changed
 */
export function lloyd(features: PoolFeatures, points: Int32Array, centres: Float64Array[]): Int32Array {
  let clusters = new Int32Array(points.length).fill(-1);
  for (let iteration = 0; iteration < mostIterations; iteration++) {
    const nearest = points.map((point) => nearestCentre(features, point, centres));
    if (nearest.every((cluster, place) => cluster === clusters[place])) break;
    clusters = nearest;
    moveCentres(features, points, clusters, centres);
  }
  return clusters;
}

function nearestCentre(features: PoolFeatures, point: number, centres: readonly Float64Array[]): number {
  let best = 0;
  let least = Infinity;
  centres.forEach((centre, cluster) => {
    const distance = squaredDistance(features, point, centre);
    if (distance < least) [best, least] = [cluster, distance];
  });
  return best;
}

/** Moves each centre to the mean of its points. A centre without points stays. */
function moveCentres(features: PoolFeatures, points: Int32Array, clusters: Int32Array, centres: Float64Array[]): void {
  const counts = new Int32Array(centres.length);
  const sums = centres.map((centre) => new Float64Array(centre.length));
  points.forEach((point, place) => {
    const sum = sums[clusters[place]];
    counts[clusters[place]]++;
    rowOf(features, point).forEach((value, d) => (sum[d] += value));
  });
  sums.forEach((sum, cluster) => {
    if (counts[cluster] > 0) centres[cluster] = sum.map((value) => value / counts[cluster]);
  });
}

/**
 * k-means++: each next centre is a point, drawn with a probability proportional to its squared distance to the nearest
 * centre.
 */
function drawCentres(features: PoolFeatures, points: Int32Array, count: number, generator: Generator): Float64Array[] {
  const centreAt = (place: number) => Float64Array.from(rowOf(features, points[place]));
  const centres = [centreAt(generator.integer(points.length))];
  const distances = new Float64Array(points.length).fill(Infinity);
  while (centres.length < count) {
    const last = centres[centres.length - 1];
    let total = 0;
    for (let place = 0; place < points.length; place++) {
      distances[place] = Math.min(distances[place], squaredDistance(features, points[place], last));
      total += distances[place];
    }
    let rest = generator.uniform() * total;
    const drawn = distances.findIndex((distance) => (rest -= distance) < 0);
    centres.push(centreAt(Math.max(0, drawn)));
  }
  return centres;
}
