import { calibratedProbabilities } from '../calibration/apply-calibration.ts';
import { type ClassSamples, foldSamples, sampleCount } from '../held-out.ts';
import type { PostprocessingRequest } from '../request.ts';
import { type Calibration, type ConformalSets, setMethods } from '../schema.ts';
import { classSets } from './class-sets.ts';
import { setCoverage } from './coverage.ts';
import { fitSets, neededForThreshold } from './fit-conformal.ts';

const FOLDS = 5;

type Compared = NonNullable<ConformalSets['compared']>;

/**
 * The smallest valid sets: in cross-validation each method is fitted on the other parts and measured on each, and of
 * those whose coverage is not below 1 − α by more than 1.96 standard errors the one with the least mean size is chosen;
 * of equal ones, and where none is valid, the first of them. Samples that are too few for thresholds in each part are
 * not compared, because all sets would hold every class: the first method is taken. The samples must not be those that
 * then fit the thresholds, so that the coverage of the chosen sets holds as if nothing had been chosen.
 *
 * Source: Yang and Kuchibhotla, "Selection and aggregation of conformal prediction sets", JASA 2024: first efficiency,
 * on samples of its own.
 *
 * @param samples that the calibration may have seen
 */
export function compareSets(
  request: Pick<PostprocessingRequest, 'alpha' | 'penalty' | 'freeRanks' | 'isClassConditional'>,
  samples: ClassSamples,
  calibration: Calibration | null,
  seed: number,
): { method: ConformalSets['method']; compared: Compared } {
  const count = sampleCount(samples);
  const needed = neededToCompare(request.alpha);
  if (count < needed) return { method: setMethods[0], compared: { samples: count, needed, methods: [] } };
  const found = setMethods.map((method) => {
    let hasThresholds = true;
    const sums = { coverage: 0, variance: 0, meanSize: 0 };
    const folds = foldSamples(samples, FOLDS, seed);
    for (const { others, part } of folds) {
      if (others.kind !== 'classes' || part.kind !== 'classes') continue;
      const conformal = fitMethod(method, request, others, calibration);
      hasThresholds &&= conformal.thresholds.every((threshold) => threshold !== Infinity);
      const sets = classSets(conformal, calibratedProbabilities(calibration, part.stack));
      const { coverage, standardError, meanSize } = setCoverage(sets, part.targets, part.weights);
      const share = sampleCount(part) / sampleCount(samples);
      sums.coverage += share * coverage;
      sums.variance += (share * standardError) ** 2;
      sums.meanSize += share * meanSize;
    }
    return {
      method,
      ...sums,
      hasThresholds,
      isValid: sums.coverage + 1.96 * Math.sqrt(sums.variance) >= 1 - request.alpha,
    };
  });
  if (!found.every(({ hasThresholds }) => hasThresholds)) {
    return { method: setMethods[0], compared: { samples: count, needed, methods: [] } };
  }
  const valid = found.some(({ isValid }) => isValid) ? found.filter(({ isValid }) => isValid) : found;
  // Where sizes differ by rounding alone, the first is taken.
  const best = valid.reduce((least, own) => (own.meanSize < least.meanSize - 1e-9 ? own : least));
  const methods = found.map(({ method, coverage, meanSize }) => ({ method, coverage, meanSize }));
  return { method: best.method, compared: { samples: count, needed, methods } };
}

/**
 * How many samples a comparison needs, in a class-conditional one of each class: the parts without one of five must
 * have 1/α − 1 for a threshold.
 */
export function neededToCompare(alpha: number): number {
  const forThreshold = neededForThreshold(alpha);
  let count = forThreshold + 1;
  while (count - Math.ceil(count / FOLDS) < forThreshold) count++;
  return count;
}

/** Fits the thresholds of one method. */
export function fitMethod(
  method: ConformalSets['method'],
  { alpha, penalty, freeRanks, isClassConditional }: Parameters<typeof compareSets>[0],
  { stack, targets, weights }: ClassSamples,
  calibration: Calibration | null,
): ConformalSets {
  const score = method === 'raps' ? { penalty, freeRanks } : { penalty: 0, freeRanks: 0 };
  const probabilities = calibratedProbabilities(calibration, stack);
  return fitSets({ method, alpha, ...score }, probabilities, targets, isClassConditional, weights);
}
