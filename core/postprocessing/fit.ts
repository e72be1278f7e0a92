import type { StackedClasses, StackedValues } from '../metrics/stacks.ts';
import {
  applyToClasses,
  applyToValues,
  type ClassAnswers,
  type Fitted,
  intervalCentres,
  pooledValues,
  type ValueAnswers,
} from './apply.ts';
import { calibratedProbabilities } from './calibration/apply-calibration.ts';
import {
  type ClassCalibration,
  classCalibrations,
  fitClassCalibration,
  fitSigmaScales,
} from './calibration/fit-calibration.ts';
import { fitIntervals, fitSets } from './conformal/fit-conformal.ts';
import { outsideThreshold } from './outside/detection.ts';
import { classOutsideScores, valueOutsideScores } from './outside/scores.ts';
import type { PostprocessingRequest } from './request.ts';
import type { Calibration, Conformal, OutsideScore } from './schema.ts';
import { classLosses, valueLosses } from './selective/losses.ts';
import { pointForRisk, riskCoverageCurve } from './selective/risk-coverage.ts';

/** Predictions of N samples of classes and their targets. */
export interface ClassSamples {
  kind: 'classes';
  /** Shape `[M, N, K]`. */
  stack: StackedClasses;
  /** Class indices, shape `[N]`. */
  targets: Int32Array;
}

/** Predictions of N samples of values and their targets. */
export interface ValueSamples {
  kind: 'values';
  /** Shape `[M, N · W]`. */
  means: StackedValues;
  variances: StackedValues | null;
  /** W, outputs of a sample: T targets, or Q quantiles of one target. */
  columns: number;
  /** Levels of the quantiles, shape `[Q]`; null for means. */
  levels: readonly number[] | null;
  /** Shape `[N, T]`. */
  targets: ArrayLike<number>;
}

/** Samples that the members did not train on. */
export type HeldOut = ClassSamples | ValueSamples;

/**
 * Fits all parts on held-out samples: the calibration first, sets or intervals and the confidence's threshold on calibrated answers.
 *
 * @throws RangeError where a method does not suit the task
 */
export function fitPostprocessing(request: PostprocessingRequest, samples: HeldOut): Fitted {
  const calibration = fitCalibration(request, samples);
  const conformal = fitConformal(request, samples, calibration);
  const outside = fitOutside(request, samples);
  const fitted = { calibration, conformal, outside, selective: null };
  return request.risk === null ? fitted : { ...fitted, selective: fitSelective(fitted, samples, request.risk) };
}

/** Applies what was fitted to held-out samples. */
export function applyTo(fitted: Fitted, samples: ClassSamples): ClassAnswers;
export function applyTo(fitted: Fitted, samples: HeldOut): ClassAnswers | ValueAnswers;
export function applyTo(fitted: Fitted, samples: HeldOut): ClassAnswers | ValueAnswers {
  if (samples.kind === 'classes') return applyToClasses(fitted, samples.stack);
  return applyToValues(fitted, samples.means, samples.variances, samples.columns);
}

function fitCalibration({ method, regularization }: PostprocessingRequest, samples: HeldOut): Calibration | null {
  if (method === 'none') return null;
  if (samples.kind === 'classes') {
    const chosen = method === 'auto' ? 'pooled-temperature' : method;
    if (!isClassCalibration(chosen)) refuseMethod('calibration', chosen, [...classCalibrations]);
    return fitClassCalibration(chosen, samples.stack, samples.targets, regularization);
  }
  const { mean, variance } = pooledValues({ calibration: null }, samples.means, samples.variances, samples.columns);
  const canScale = variance !== null && samples.levels === null;
  if (method === 'auto' && !canScale) return null;
  if ((method !== 'auto' && method !== 'sigma') || !canScale || variance === null) {
    refuseMethod('calibration', method, canScale ? ['sigma'] : []);
  }
  return { method: 'sigma', scales: fitSigmaScales(mean, variance, samples.targets, samples.columns) };
}

function isClassCalibration(method: string): method is ClassCalibration {
  return classCalibrations.some((known) => known === method);
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
    return fitSets({ method, alpha, penalty, freeRanks }, probabilities, samples.targets, isClassConditional);
  }
  if (isClassConditional)
    throw new RangeError('Values have no classes, so no class-conditional coverage. Leave that out.');
  return fitValueIntervals(request, samples, calibration);
}

function fitValueIntervals(
  request: PostprocessingRequest,
  { means, variances, columns, levels, targets }: ValueSamples,
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
  return fitIntervals(method, request.alpha, centres, targets, levels === null ? columns : 1, quantiles);
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
  if (isSingle) throw new RangeError('The variance between members needs more than one member.');
  const score = outside === 'auto' ? (samples.kind === 'classes' ? 'entropy' : 'variance') : outside;
  return { score, threshold: outsideThreshold(outsideScoresOf(score, samples), quantile), quantile };
}

/** A score of held-out samples, shape `[N]`. */
export function outsideScoresOf(score: OutsideScore, samples: HeldOut): Float64Array {
  if (samples.kind === 'classes') return classOutsideScores(score, samples.stack);
  return valueOutsideScores(score, samples.means, samples.columns);
}

function fitSelective(fitted: Fitted, samples: HeldOut, risk: number): NonNullable<Fitted['selective']> {
  const { confidence, losses } = confidenceAndLosses(fitted, samples);
  const point = pointForRisk(riskCoverageCurve(confidence, losses), risk);
  if (point !== null)
    return { threshold: point.threshold, wishedRisk: risk, risk: point.risk, coverage: point.coverage };
  throw new RangeError(
    `No threshold gives a risk of ${risk}: even the most confident answers have a larger one on the samples to fit. Ask for a larger risk, or leave it out.`,
  );
}

/** Confidence of the answers and loss of each sample, shape `[N]`: 1 for a wrong class, the mean squared error of values. */
export function confidenceAndLosses(fitted: Fitted, samples: HeldOut) {
  if (samples.kind === 'classes') {
    const { confidence, probabilities } = applyTo(fitted, samples);
    return { confidence, losses: classLosses(probabilities, samples.targets) };
  }
  const { means, variances, columns, levels, targets } = samples;
  const { confidence, mean } = applyToValues(fitted, means, variances, columns);
  return { confidence, losses: valueLosses(mean, targets, columns, levels) };
}

function refuseMethod(kind: string, method: string, possible: readonly string[]): never {
  throw new RangeError(
    `The ${kind} method "${method}" does not suit what the members predict: ` +
      (possible.length === 0 ? 'none does. Ask for none.' : `ask for ${possible.join(', ')} or none.`),
  );
}
