import {
  applyToClasses,
  applyToLabels,
  applyToValues,
  type ClassAnswers,
  type Fitted,
  intervalCentres,
  type LabelAnswers,
  pooledValues,
  type ValueAnswers,
} from './apply.ts';
import { calibratedProbabilities } from './calibration/apply-calibration.ts';
import {
  type ClassCalibration,
  classCalibrationsOf,
  fitClassCalibration,
  fitSigmaScales,
} from './calibration/fit-calibration.ts';
import { fitIntervals, fitSets } from './conformal/fit-conformal.ts';
import {
  fitLabelCalibration,
  fitLabelSets,
  type LabelCalibrationMethod,
  labelCalibrations,
} from './labels/fit-labels.ts';
import { outsideScoresOf, scoresFor } from './outside/all-scores.ts';
import { isDistanceScore } from './outside/distance-scores.ts';
import { outsideThreshold } from './outside/detection.ts';
import {
  type ClassSamples,
  divideSamples,
  type HeldOut,
  type LabelSamples,
  sampleCount,
  type ValueSamples,
  withAnswers,
} from './held-out.ts';
import type { PostprocessingRequest } from './request.ts';
import type { Calibration, Conformal, OutsideScore } from './schema.ts';
import { classLosses, labelLosses, valueLosses } from './selective/losses.ts';
import { pointForRisk, riskCoverageCurve } from './selective/risk-coverage.ts';

/** What was fitted, and how many samples fitted the calibration and how many the rest; null: all fitted both. */
export type FittedInParts = Fitted & { parts: { calibration: number; others: number } | null };

/**
 * Fits all parts on held-out samples: first the calibration, then sets or intervals and the confidence's threshold on calibrated answers of other
 * samples, because answers for the samples of the calibration are too good. The score of samples outside the training data needs no calibration, and takes
 * all samples.
 *
 * @param seed decides which samples fit the calibration
 * @throws RangeError where a method does not suit the task, or there are too few samples to divide
 */
export function fitPostprocessing(request: PostprocessingRequest, given: HeldOut, seed: number): FittedInParts {
  const { risk, calibrationShare } = request;
  const { combination = 'mean' } = given;
  const samples = withAnswers(given);
  const needsBoth = calibrates(request, samples) && (request.conformal !== 'none' || risk !== null);
  const isDivided = needsBoth && calibrationShare < 1;
  const [first, others] = isDivided ? divideSamples(samples, calibrationShare, seed) : [samples, samples];
  const calibration = fitCalibration(request, first);
  const conformal = fitConformal(request, others, calibration);
  const outside = fitOutside(request, given);
  const fitted = { combination, calibration, conformal, outside, selective: null };
  const selective = risk === null ? null : fitSelective(fitted, others, risk);
  const parts = isDivided ? { calibration: sampleCount(first), others: sampleCount(others) } : null;
  return { ...fitted, selective, parts };
}

/** The answers for held-out samples, without how far these are from the training data. */
export function applyTo(fitted: Fitted, samples: ClassSamples): ClassAnswers;
export function applyTo(fitted: Fitted, samples: LabelSamples): LabelAnswers;
export function applyTo(fitted: Fitted, samples: ValueSamples): ValueAnswers;
export function applyTo(fitted: Fitted, samples: HeldOut): ClassAnswers | LabelAnswers | ValueAnswers {
  // How far a sample is from the training data has its own figures.
  const answering = { ...fitted, outside: null };
  if (samples.kind === 'classes') return applyToClasses(answering, samples.stack);
  if (samples.kind === 'labels') return applyToLabels(answering, samples.stack);
  return applyToValues(answering, samples.means, samples.variances, samples.columns);
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

function fitCalibration(request: PostprocessingRequest, samples: HeldOut): Calibration | null {
  if (!calibrates(request, samples)) return null;
  const { method, regularization } = request;
  if (samples.kind === 'classes') {
    const chosen = method === 'auto' ? 'pooled-temperature' : method;
    const possible = classCalibrationsOf(samples.combination);
    if (!isClassCalibration(chosen, possible)) refuseMethod('calibration', chosen, possible);
    return fitClassCalibration(chosen, samples, regularization);
  }
  if (samples.kind === 'labels') {
    const chosen = method === 'auto' ? 'label-temperature' : method;
    if (!isLabelCalibration(chosen)) refuseMethod('calibration', chosen, [...labelCalibrations]);
    return fitLabelCalibration(chosen, samples);
  }
  const { means, variances, columns, targets, weights } = samples;
  const { mean, variance } = pooledValues({ calibration: null }, means, variances, columns);
  const isPossible = canScale(samples) && variance !== null;
  if ((method !== 'auto' && method !== 'sigma') || !isPossible) {
    refuseMethod('calibration', method, isPossible ? ['sigma'] : []);
  }
  return { method: 'sigma', scales: fitSigmaScales(mean, variance, targets, columns, weights) };
}

function isClassCalibration(method: string, possible: readonly ClassCalibration[]): method is ClassCalibration {
  return possible.some((known) => known === method);
}

function isLabelCalibration(method: string): method is LabelCalibrationMethod {
  return labelCalibrations.some((known) => known === method);
}

function fitConformal(
  request: PostprocessingRequest,
  samples: HeldOut,
  calibration: Calibration | null,
): Conformal | null {
  const { alpha, isClassConditional } = request;
  if (request.conformal === 'none') return null;
  if (samples.kind === 'classes') {
    const method = request.conformal === 'auto' ? 'raps' : request.conformal;
    if (method !== 'thr' && method !== 'aps' && method !== 'raps')
      refuseMethod('conformal', method, ['thr', 'aps', 'raps']);
    const score = method === 'raps' ? request : { penalty: 0, freeRanks: 0 };
    const probabilities = calibratedProbabilities(calibration, samples.stack);
    const { penalty, freeRanks } = score;
    const { targets, weights } = samples;
    return fitSets({ method, alpha, penalty, freeRanks }, probabilities, targets, isClassConditional, weights);
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
  { means, variances, columns, levels, targets, weights }: ValueSamples,
  calibration: Calibration | null,
): Conformal {
  const { mean, variance } = pooledValues({ calibration }, means, variances, columns);
  const possible = levels !== null ? ['cqr'] : variance === null ? ['split'] : ['sigma-scaled', 'split'];
  const method = possible.find((known) => request.conformal === 'auto' || known === request.conformal);
  if (method !== 'cqr' && method !== 'split' && method !== 'sigma-scaled') {
    refuseMethod('conformal', request.conformal, possible);
  }
  const quantiles = levels === null ? null : outerQuantiles(levels, request.alpha);
  const centres = intervalCentres(quantiles, mean, variance, columns);
  return fitIntervals(method, request.alpha, centres, targets, levels === null ? columns : 1, quantiles, weights);
}

/** The predicted quantiles whose levels are nearest to α / 2 and 1 − α / 2. @throws RangeError where both are the same */
function outerQuantiles(levels: readonly number[], alpha: number): [number, number] {
  const nearest = (wished: number): number => {
    const distances = levels.map((level) => Math.abs(level - wished));
    return distances.indexOf(Math.min(...distances));
  };
  const [low, high] = [nearest(alpha / 2), nearest(1 - alpha / 2)];
  if (low !== high) return [low, high];
  throw new RangeError(
    `Conformalized quantile regression needs two quantiles, near ${alpha / 2} and ${1 - alpha / 2}: the project predicts ${levels.join(', ')}.`,
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
    `No threshold gives a risk of ${risk}: even the most confident answers have a larger one on the samples to fit. Ask for a larger risk, or leave it out.`,
  );
}

/** Confidence of the answers and loss of each sample, shape `[N]`: 1 for a wrong class, the share of wrong labels, the mean squared error of values. */
export function confidenceAndLosses(fitted: Fitted, samples: HeldOut) {
  if (samples.kind === 'classes') {
    const { confidence, probabilities } = applyTo(fitted, samples);
    return { confidence, losses: classLosses(probabilities, samples.targets) };
  }
  if (samples.kind === 'labels') {
    const { confidence, probabilities } = applyTo(fitted, samples);
    return { confidence, losses: labelLosses(probabilities, samples) };
  }
  const { columns, levels, targets } = samples;
  const { confidence, mean } = applyTo(fitted, samples);
  return { confidence, losses: valueLosses(mean, targets, columns, levels) };
}

function refuseMethod(kind: string, method: string, possible: readonly string[]): never {
  throw new RangeError(
    `The ${kind} method "${method}" does not suit what the members predict: ` +
      (possible.length === 0 ? 'none does. Ask for none.' : `ask for ${possible.join(', ')} or none.`),
  );
}
