import type { ClassSamples, LabelSamples, ValueSamples } from '../held-out.ts';
import { labelOutsideScores } from '../label-scores.ts';
import { type OutsideScore, predictionScoreNames } from '../schema.ts';
import { isDistanceScore } from './distances.ts';
import { classOutsideScores, valueOutsideScores } from './scores.ts';

/** Predictions of N samples, with the distances that were measured. */
export type ScoredSamples =
  | Pick<ClassSamples, 'kind' | 'stack' | 'distances'>
  | Pick<LabelSamples, 'kind' | 'stack' | 'distances'>
  | Pick<ValueSamples, 'kind' | 'means' | 'columns' | 'distances'>;

/** The scores that suit the predictions: one member has no variance of values. */
export function scoresFor(samples: ScoredSamples): readonly OutsideScore[] {
  const ofPredictions: readonly OutsideScore[] =
    samples.kind !== 'values' ? predictionScoreNames : samples.means.members > 1 ? ['variance'] : [];
  return [...ofPredictions, ...Object.keys(samples.distances ?? {}).filter(isDistanceScore)];
}

/**
 * A score of samples, shape `[N]`.
 * @throws RangeError for a score that does not suit the predictions, or a distance that was not measured
 */
export function outsideScoresOf(score: OutsideScore, samples: ScoredSamples): Float64Array {
  if (isDistanceScore(score)) {
    const found = samples.distances?.[score];
    if (found !== undefined) return found;
    throw new RangeError(`There are no distances of the samples for the score "${score}".`);
  }
  if (samples.kind === 'classes') return classOutsideScores(score, samples.stack);
  if (samples.kind === 'labels') return labelOutsideScores(score, samples.stack);
  return valueOutsideScores(score, samples.means, samples.columns);
}
