import type { Combination } from '../metrics/combination.ts';
import { applyTo, confidenceAndLosses } from './answers.ts';
import { type Fitted, intervalCentres, pooledValues } from './apply.ts';
import {
  type ClassCalibration,
  classCalibrationsOf,
  fitClassCalibration,
  fitSigmaScales,
} from './calibration/fit-calibration.ts';
import { isAtEnd, isLargest, temperaturesOf } from './calibration/fit-temperature.ts';
import { agreementOf, crossValidate, PRIOR_SAMPLES } from './calibration/judge.ts';
import { compareSets, fitMethod } from './conformal/choose-sets.ts';
import { fitIntervals } from './conformal/fit-conformal.ts';
import {
  type ClassSamples,
  countedWeights,
  divideSamples,
  type HeldOut,
  sampleCount,
  type ValueSamples,
  withAnswers,
} from './held-out.ts';
import { fitLabelCalibration, fitLabelSets, type LabelCalibrationMethod, labelCalibrations } from './fit-labels.ts';
import { outsideScoresOf, scoresFor } from './outside/scores.ts';
import { outsideThreshold } from './outside/detection.ts';
import { isDistanceScore } from './outside/distances.ts';
import type { PostprocessingRequest } from './request.ts';
import { type Calibration, type Conformal, type Judged, type OutsideScore, setMethods } from './schema.ts';
import { pointForRisk, riskCoverageCurve } from './risk-coverage.ts';

/**
 * What was fitted, how the calibration was judged, and how many samples fitted the calibration and how many the rest;
 * null: all fitted both.
 */
export type FittedInParts = Fitted & {
  combination: Combination;
  judged: Judged | null;
  parts: { calibration: number; others: number } | null;
};

/**
 * Fits all parts on held-out samples: first the calibration, then sets or intervals and the confidence's threshold on
 * calibrated answers of other samples, because answers for the samples of the calibration are too good. The score of
 * samples outside the training data needs no calibration, and takes all samples.
 *
 * @param seed decides which samples fit the calibration
 * @throws RangeError where a method does not suit the task, or there are too few samples to divide
 */
export function fitPostprocessing(request: PostprocessingRequest, given: HeldOut, seed: number): FittedInParts {
  const { risk, calibrationShare } = request;
  const { combination = 'mean' } = given;
  const samples = withAnswers(given);
  // Which sets are the smallest is also learned from samples that their thresholds do not see.
  const choosesSets = samples.kind === 'classes' && request.conformal === 'auto';
  const needsBoth = choosesSets || (calibrates(request, samples) && (request.conformal !== 'none' || risk !== null));
  const isDivided = needsBoth && calibrationShare < 1;
  const [first, others] = isDivided ? divideSamples(samples, calibrationShare, seed) : [samples, samples];
  const { calibration, judged } = judgeCalibration(request, first, seed);
  const conformal = fitConformal(request, others, calibration, choosesSets ? { samples: first, seed } : null);
  const outside = fitOutside(request, given);
  const fitted = { combination, calibration, conformal, outside, selective: null };
  const selective = risk === null ? null : fitSelective(fitted, others, risk);
  const parts = isDivided ? { calibration: sampleCount(first), others: sampleCount(others) } : null;
  return { ...fitted, judged, selective, parts };
}

/** Whether there is something to calibrate. */
function calibrates({ method }: PostprocessingRequest, samples: HeldOut): boolean {
  if (method !== 'auto') return method !== 'none';
  return samples.kind !== 'values' || canScale(samples);
}

/** Whether there are standard deviations to scale. */
function canScale({ levels, variances, means }: ValueSamples): boolean {
  return levels === null && (variances !== null || means.members > 1);
}

/**
 * Fits the calibration that was asked for, and keeps it where cross-validation shows that it helps: of one that was
 * named the mean gain must be above 0, of the usual one, and where a temperature reached an end of its range, its whole
 * interval. None is kept for labels that the answers contradict, or whose best answer is that all classes are equally
 * probable: that is no correction of a confidence.
 */
function judgeCalibration(
  request: PostprocessingRequest,
  samples: HeldOut,
  seed: number,
): { calibration: Calibration | null; judged: Judged | null } {
  if (!calibrates(request, samples)) return { calibration: null, judged: null };
  const fit = (own: HeldOut): Calibration => fitCalibration(request, own);
  const calibration = fit(samples);
  const found = crossValidate(fit, samples, seed);
  const agreement = agreementOf(samples);
  const ends = temperaturesOf(calibration).filter(isAtEnd);
  const mustBeClear = request.method === 'auto' || ends.length > 0;
  const isPossible = !ends.some(isLargest) && !(agreement !== null && agreement.upper < 0);
  const isKept = isPossible && (mustBeClear ? found.gain.lower : found.gain.mean) > 0;
  const method = request.method === 'auto' ? usualMethod[samples.kind] : request.method;
  const judged = { method, ...found, agreement, isKept, ends };
  return { calibration: isKept ? calibration : null, judged };
}

const usualMethod = { classes: 'pooled-temperature', labels: 'label-temperature', values: 'sigma' } as const;

function fitCalibration(request: PostprocessingRequest, samples: HeldOut): Calibration {
  const { regularization } = request;
  const method = request.method === 'auto' ? usualMethod[samples.kind] : request.method;
  if (samples.kind === 'classes') {
    const possible = classCalibrationsOf(samples.combination);
    if (!isClassCalibration(method, possible)) refuseMethod('calibration', method, possible);
    return fitClassCalibration(method, samples, regularization, PRIOR_SAMPLES);
  }
  if (samples.kind === 'labels') {
    if (!isLabelCalibration(method)) refuseMethod('calibration', method, [...labelCalibrations]);
    return fitLabelCalibration(method, samples, PRIOR_SAMPLES);
  }
  const { means, variances, columns, targets } = samples;
  const { mean, variance } = pooledValues({ calibration: null }, means, variances, columns);
  const isPossible = canScale(samples) && variance !== null;
  if (method !== 'sigma' || !isPossible) refuseMethod('calibration', method, isPossible ? ['sigma'] : []);
  const scales = fitSigmaScales(mean, variance, targets, columns, countedWeights(samples), PRIOR_SAMPLES);
  return { method: 'sigma', scales };
}

function isClassCalibration(method: string, possible: readonly ClassCalibration[]): method is ClassCalibration {
  return possible.some((known) => known === method);
}

function isLabelCalibration(method: string): method is LabelCalibrationMethod {
  return labelCalibrations.some((known) => known === method);
}

/** @param choosing the samples that tell which sets are the smallest; null: the method was named */
function fitConformal(
  request: PostprocessingRequest,
  samples: HeldOut,
  calibration: Calibration | null,
  choosing: { samples: HeldOut; seed: number } | null,
): Conformal | null {
  const { alpha, isClassConditional } = request;
  if (request.conformal === 'none') return null;
  if (samples.kind === 'classes') {
    const isChosen = choosing?.samples.kind === 'classes';
    const { method, compared } = isChosen
      ? compareSets(request, choosing.samples as ClassSamples, calibration, choosing.seed)
      : { method: request.conformal, compared: null };
    const named = setMethods.find((known) => known === method);
    if (named === undefined) refuseMethod('conformal', method, [...setMethods]);
    return { ...fitMethod(named, request, samples, calibration), compared };
  }
  if (samples.kind === 'labels') {
    if (request.conformal !== 'auto' && request.conformal !== 'thr')
      refuseMethod('conformal', request.conformal, ['thr']);
    const { probabilities } = applyTo({ calibration, conformal: null, outside: null, selective: null }, samples);
    return fitLabelSets(alpha, probabilities, samples);
  }
  if (isClassConditional)
    throw new RangeError('Values have no classes, so no class-conditional coverage. Leave that out.');
  return fitValueIntervals(request, samples, calibration);
}

function fitValueIntervals(
  request: PostprocessingRequest,
  samples: ValueSamples,
  calibration: Calibration | null,
): Conformal {
  const { means, variances, columns, levels, targets } = samples;
  const { mean, variance } = pooledValues({ calibration }, means, variances, columns);
  const possible = levels !== null ? ['cqr'] : variance === null ? ['split'] : ['sigma-scaled', 'split'];
  const method = possible.find((known) => request.conformal === 'auto' || known === request.conformal);
  if (method !== 'cqr' && method !== 'split' && method !== 'sigma-scaled') {
    refuseMethod('conformal', request.conformal, possible);
  }
  const quantiles = levels === null ? null : outerQuantiles(levels, request.alpha);
  const centres = intervalCentres(quantiles, mean, variance, columns);
  const targetColumns = levels === null ? columns : 1;
  return fitIntervals(method, request.alpha, centres, targets, targetColumns, quantiles, countedWeights(samples));
}

/**
 * The predicted quantiles whose levels are nearest to α / 2 and 1 − α / 2.
 * @throws RangeError where both are the same
 */
function outerQuantiles(levels: readonly number[], alpha: number): [number, number] {
  const nearest = (wished: number): number => {
    const distances = levels.map((level) => Math.abs(level - wished));
    return distances.indexOf(Math.min(...distances));
  };
  const [low, high] = [nearest(alpha / 2), nearest(1 - alpha / 2)];
  if (low !== high) return [low, high];
  throw new RangeError(
    `Conformalized quantile regression needs two quantiles, near ${alpha / 2} and ${1 - alpha / 2}: the ` +
      `project predicts ${levels.join(', ')}.`,
  );
}

function fitOutside({ outside, quantile }: PostprocessingRequest, samples: HeldOut): Fitted['outside'] {
  const isSingle = samples.kind === 'values' && samples.means.members === 1;
  if (outside === 'none' || (outside === 'auto' && isSingle)) return null;
  if (isSingle && !isDistanceScore(outside)) {
    throw new RangeError(
      'The variance between members needs more than one member: take a distance, such as --outside mahalanobis.',
    );
  }
  const score = outside === 'auto' ? (samples.kind === 'values' ? 'variance' : 'entropy') : outside;
  const thresholdOf = (own: OutsideScore) => outsideThreshold(outsideScoresOf(own, samples), quantile, samples.weights);
  const others = scoresFor(samples).flatMap((own) =>
    own === score || isDistanceScore(own) ? [] : { score: own, threshold: thresholdOf(own) },
  );
  return {
    score,
    threshold: thresholdOf(score),
    quantile,
    others,
  };
}

function fitSelective(fitted: Fitted, samples: HeldOut, risk: number): NonNullable<Fitted['selective']> {
  const { confidence, losses } = confidenceAndLosses(fitted, samples);
  const point = pointForRisk(riskCoverageCurve(confidence, losses, samples.weights), risk);
  if (point !== null)
    return { threshold: point.threshold, wishedRisk: risk, risk: point.risk, coverage: point.coverage };
  throw new RangeError(
    `No threshold gives a risk of ${risk}: even the most confident answers have a larger one on the samples to ` +
      'fit. Ask for a larger risk, or leave it out.',
  );
}

function refuseMethod(kind: string, method: string, possible: readonly string[]): never {
  throw new RangeError(
    `The ${kind} method "${method}" does not suit what the members predict: ` +
      (possible.length === 0 ? 'none does. Ask for none.' : `ask for ${possible.join(', ')} or none.`),
  );
}
