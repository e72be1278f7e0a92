import { fitGaussian, gaussianDistances, type GaussianReference } from './mahalanobis.ts';
import { keepNeighbours, neighbourDistances, type NeighbourReference } from './neighbours.ts';

/** What distances are measured from: fitted on training samples. */
export type Reference = GaussianReference | NeighbourReference;

/** k of `knn` and `input-knn`. */
const NEIGHBOURS = 10;

/**
 * @param values of training samples, shape `[N, D]`
 * @param labels the class of each, shape `[N]`; null without classes
 */
export function fitReference(
  score: DistanceScore,
  values: Float32Array,
  size: number,
  labels: Int32Array | null,
): Reference {
  if (score === 'mahalanobis' || score === 'input-mahalanobis') return fitGaussian(values, size, labels);
  return keepNeighbours(values, size, looksAtInputs(score), NEIGHBOURS);
}

/** Distances of samples, shape `[N]`; NaN where a value is not finite. @param values shape `[N, D]` */
export function distancesFrom(reference: Reference, values: Float32Array): Float64Array {
  if (values.length % reference.size !== 0) {
    throw new RangeError(
      `${values.length} values are not samples of ${reference.size} values, for which the distances were ` +
        'fitted: fit them again with `tutti calibrate`.',
    );
  }
  return reference.kind === 'knn' ? neighbourDistances(reference, values) : gaussianDistances(reference, values);
}

/** The mean over the members, shape `[N]`. @param distances one array for each member */
export function meanDistances(distances: readonly Float64Array[]): Float64Array {
  return distances[0].map((_, sample) => distances.reduce((sum, own) => sum + own[sample], 0) / distances.length);
}

/**
 * Scores that look at the samples and not at the predictions: the Mahalanobis distance to the training samples, and the
 * distance to the k-th nearest of them; of the values before a member's last layer (its features), or of the inputs as
 * the members take them.
 */
export const distanceScoreNames = ['mahalanobis', 'knn', 'input-mahalanobis', 'input-knn'] as const;
export type DistanceScore = (typeof distanceScoreNames)[number];

export const isDistanceScore = (score: string): score is DistanceScore =>
  distanceScoreNames.some((name) => name === score);

/** Whether a score looks at the inputs, which all members share, and not at each member's features. */
export const looksAtInputs = (score: DistanceScore): boolean => score.startsWith('input-');

/** Most values of a sample for a Mahalanobis distance, whose covariance has their square. */
export const mostGaussianValues = 1024;
