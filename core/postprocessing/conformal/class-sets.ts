import type { Probabilities } from '../../metrics/stacks.ts';
import type { ConformalSets } from '../schema.ts';

/**
 * Probabilities and scores that differ by less are equal: what they differ by is rounding, which must not decide what a
 * set holds.
 */
const ROUNDING = 1e-9;

/** Whether a class or label of this score is in the set. */
export const isWithin = (score: number, threshold: number): boolean => score <= threshold + ROUNDING;

/** How nonconformity of a class is measured. */
export type SetScore = Pick<ConformalSets, 'method' | 'penalty' | 'freeRanks'>;

/**
 * Nonconformity of every class of every sample, shape `[N, K]`: the larger, the less the class fits.
 *
 * - `thr`: 1 − p_k (Sadinle, Lei and Wasserman, "Least ambiguous set-valued classifiers with bounded error levels",
 *   JASA 2019; also LAC).
 * - `aps`: the sum of the probabilities from the largest down to p_k, without randomization (Romano, Sesia and Candès,
 *   "Classification with valid and adaptive coverage", NeurIPS 2020).
 * - `raps`: that plus penalty · max(0, rank of k − freeRanks), ranks from 1 (Angelopoulos et al., "Uncertainty sets for
 *   image classifiers using conformal prediction", ICLR 2021).
 *
 * Equally probable classes are ranked by their index; probabilities count as equal where rounding may be all that they
 * differ by.
 */
export function classScores({ method, penalty, freeRanks }: SetScore, probabilities: Probabilities): Float64Array {
  const { samples, classes, values } = probabilities;
  if (method === 'thr') return Float64Array.from(values, (value) => 1 - value);
  const scores = new Float64Array(samples * classes);
  for (let start = 0; start < scores.length; start += classes) {
    let sum = 0;
    for (const [place, label] of rankedClasses(values.subarray(start, start + classes)).entries()) {
      sum += values[start + label];
      scores[start + label] = sum + (method === 'raps' ? penalty * Math.max(0, place + 1 - freeRanks) : 0);
    }
  }
  return scores;
}

/**
 * Classes from the most probable to the least. A class is tied with the next one where their probabilities differ by
 * rounding alone.
 */
function rankedClasses(row: Probabilities['values']): number[] {
  const order = Array.from(row.keys()).sort((left, right) => row[right] - row[left]);
  let first = 0;
  for (let place = 1; place <= order.length; place++) {
    if (place < order.length && row[order[place - 1]] - row[order[place]] < ROUNDING) continue;
    const tied = order.slice(first, place).sort((left, right) => left - right);
    order.splice(first, tied.length, ...tied);
    first = place;
  }
  return order;
}

/**
 * Conformal sets, shape `[N, K]`: 1 where the class is in the sample's set. A set always has the most probable class,
 * which can only raise the coverage.
 *
 * @throws RangeError where class-conditional thresholds are those of another number of classes
 */
export function classSets(conformal: ConformalSets, probabilities: Probabilities): Uint8Array {
  const { samples, classes, values } = probabilities;
  const { thresholds, isClassConditional } = conformal;
  if (thresholds.length !== (isClassConditional ? classes : 1)) {
    throw new RangeError(
      `The predictions have ${classes} classes, the conformal sets have thresholds for ${thresholds.length}: ` +
        'fit them again with `tutti calibrate`.',
    );
  }
  const scores = classScores(conformal, probabilities);
  const sets = new Uint8Array(samples * classes);
  for (let start = 0; start < sets.length; start += classes) {
    let best = 0;
    for (let label = 0; label < classes; label++) {
      if (values[start + label] > values[start + best]) best = label;
      if (isWithin(scores[start + label], thresholds[isClassConditional ? label : 0])) sets[start + label] = 1;
    }
    sets[start + best] = 1;
  }
  return sets;
}
