import { calibratedProbabilities } from '../calibration/apply-calibration.ts';
import { type ClassSamples, foldSamples, sampleCount } from '../held-out.ts';
import type { PostprocessingRequest } from '../request.ts';
import { type Calibration, type ConformalSets, setMethods } from '../schema.ts';
import { classSets } from './class-sets.ts';
import { setCoverage } from './coverage.ts';
import { fitSets } from './fit-conformal.ts';

const FOLDS = 5;

type Compared = NonNullable<ConformalSets['compared']>;

/**
 * The smallest valid sets: in cross-validation each method is fitted on the other parts and measured on each, and of those whose coverage is not below
 * 1 − α by more than 1.96 standard errors the one with the least mean size is chosen; of equal ones, and where none is valid, the first of them. The
 * samples must not be those that then fit the thresholds, so that the coverage of the chosen sets holds as if nothing had been chosen.
 *
 * Source: Yang and Kuchibhotla, "Selection and aggregation of conformal prediction sets", JASA 2024: first efficiency, on samples of its own.
 *
 * @param samples that the calibration may have seen
 */
export function compareSets(
  request: Pick<PostprocessingRequest, 'alpha' | 'penalty' | 'freeRanks' | 'isClassConditional'>,
  samples: ClassSamples,
  calibration: Calibration | null,
  seed: number,
): { method: ConformalSets['method']; compared: Compared } {
  const found = setMethods.map((method) => {
    const sums = { coverage: 0, variance: 0, meanSize: 0 };
    const folds = foldSamples(samples, FOLDS, seed);
    for (const { others, part } of folds.length < 2 ? [] : folds) {
      if (others.kind !== 'classes' || part.kind !== 'classes') continue;
      const conformal = fitMethod(method, request, others, calibration);
      const sets = classSets(conformal, calibratedProbabilities(calibration, part.stack));
      const { coverage, standardError, meanSize } = setCoverage(sets, part.targets, part.weights);
      const share = sampleCount(part) / sampleCount(samples);
      sums.coverage += share * coverage;
      sums.variance += (share * standardError) ** 2;
      sums.meanSize += share * meanSize;
    }
    return { method, ...sums, isValid: sums.coverage + 1.96 * Math.sqrt(sums.variance) >= 1 - request.alpha };
  });
  const valid = found.some(({ isValid }) => isValid) ? found.filter(({ isValid }) => isValid) : found;
  // Of sizes that differ by rounding alone the first is taken.
  const best = valid.reduce((least, own) => (own.meanSize < least.meanSize - 1e-9 ? own : least));
  const methods = found.map(({ method, coverage, meanSize }) => ({ method, coverage, meanSize }));
  return { method: best.method, compared: { samples: sampleCount(samples), methods } };
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
