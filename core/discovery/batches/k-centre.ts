import { type PoolFeatures, rowOf, squaredDistance } from './distances.ts';

/**
 * Chooses `count` of the shortlisted candidates that lie far apart: the first one is the first of the shortlist, each next one is the farthest from all
 * chosen ones (equal distances fall to the earlier place in the shortlist).
 * Source: Gonzalez, "Clustering to minimize the maximum intercluster distance", 1985; for batches Sener and Savarese, "Active learning for convolutional
 * neural networks: a core-set approach", ICLR 2018, algorithm 1.
 * @param shortlist indices of the pool, best first
 */
export function chooseCentres(features: PoolFeatures, shortlist: Int32Array, count: number): Int32Array {
  const distances = new Float64Array(shortlist.length).fill(Infinity);
  const places: number[] = [];
  let next = 0;
  while (places.length < Math.min(count, shortlist.length)) {
    places.push(next);
    distances[next] = -1;
    const row = rowOf(features, shortlist[next]);
    for (let place = 0; place < shortlist.length; place++) {
      if (distances[place] >= 0)
        distances[place] = Math.min(distances[place], squaredDistance(features, shortlist[place], row));
    }
    next = distances.indexOf(distances.reduce((most, own) => Math.max(most, own)));
  }
  return Int32Array.from(places, (place) => shortlist[place]);
}
