/**
 * Scores that look at the samples and not at the predictions: the Mahalanobis distance to the training samples, and the distance to the k-th nearest of
 * them; of the values before a member's last layer (its features), or of the inputs as the members take them.
 */
export const distanceScoreNames = ['mahalanobis', 'knn', 'input-mahalanobis', 'input-knn'] as const;
export type DistanceScore = (typeof distanceScoreNames)[number];

export const isDistanceScore = (score: string): score is DistanceScore =>
  distanceScoreNames.some((name) => name === score);

/** Whether a score looks at the inputs, which all members share, and not at each member's features. */
export const looksAtInputs = (score: DistanceScore): boolean => score.startsWith('input-');

/** Most values of a sample for a Mahalanobis distance, whose covariance has their square. */
export const mostGaussianValues = 1024;
