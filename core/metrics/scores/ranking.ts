import { areCountedFinite, type Weights } from '../weights.ts';

/**
 * Quality of the order that scores give to samples of one label: positives should come before negatives. Ties are
 * shared as in scikit-learn. Shapes: scores `[N]`, `isPositive` of each sample, weights `[N]`: a sample of weight 2
 * counts like two of weight 1.
 */

/** The weights of samples with the same score; ties are in descending order of the scores. */
interface Tie {
  positives: number;
  negatives: number;
}

/**
 * Area under the ROC curve: the probability that a positive has a larger score than a negative, where a tie counts one
 * half. NaN without positives or without negatives, and where a score is not finite.
 *
 * Source: Hanley and McNeil, "The meaning and use of the area under a receiver operating characteristic (ROC) curve",
 * 1982.
 */
export function areaUnderRoc(scores: Float64Array, isPositive: (sample: number) => boolean, weights?: Weights): number {
  const ties = tiesOf(scores, isPositive, weights);
  let [above, pairs, negatives] = [0, 0, 0];
  for (const tie of ties) {
    pairs += tie.negatives * (above + tie.positives / 2);
    above += tie.positives;
    negatives += tie.negatives;
  }
  return pairs / (above * negatives);
}

/**
 * Average precision, sum_t (recall_t - recall_(t-1)) precision_t over the distinct scores t in descending order. NaN
 * without positives, and where a score is not finite.
 *
 * Source: scikit-learn's `average_precision_score`, which interpolates nothing.
 */
export function averagePrecision(
  scores: Float64Array,
  isPositive: (sample: number) => boolean,
  weights?: Weights,
): number {
  let [found, chosen, sum] = [0, 0, 0];
  for (const tie of tiesOf(scores, isPositive, weights)) {
    found += tie.positives;
    chosen += tie.positives + tie.negatives;
    sum += (tie.positives * found) / chosen;
  }
  return sum / found;
}

function tiesOf(scores: Float64Array, isPositive: (sample: number) => boolean, weights?: Weights): Tie[] {
  if (!areCountedFinite(scores, weights)) return [];
  const counted = Uint32Array.from(scores.keys()).filter((sample) => weights?.[sample] !== 0);
  const order = counted.sort((left, right) => scores[right] - scores[left]);
  const ties: Tie[] = [];
  for (const [place, sample] of order.entries()) {
    if (place === 0 || scores[sample] !== scores[order[place - 1]]) ties.push({ positives: 0, negatives: 0 });
    const tie = ties[ties.length - 1];
    const weight = weights?.[sample] ?? 1;
    if (isPositive(sample)) tie.positives += weight;
    else tie.negatives += weight;
  }
  return ties;
}
