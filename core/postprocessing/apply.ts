import { answeringClasses, answeringLabels, answeringRates } from '../metrics/combination.ts';
import { checkSameShape } from '../metrics/checks.ts';
import { meanOverMembers, memberValues } from '../metrics/predictions.ts';
import { epistemicVariance, totalVariance } from '../metrics/regression.ts';
import type { Gaussians } from '../metrics/scores/mixture-scores.ts';
import type { Probabilities, StackedClasses, StackedLogits, StackedValues } from '../metrics/stacks.ts';
import { calibratedProbabilities } from './calibration/apply-calibration.ts';
import { classSets } from './conformal/class-sets.ts';
import { conformalIntervals, type IntervalCentres, type Intervals } from './conformal/intervals.ts';
import { calibratedLogits, labelConfidence, labelSets, pooledLogits, sigmoid } from './label-answers.ts';
import { classOutsideScores, labelOutsideScores, valueOutsideScores } from './outside/scores.ts';
import { isDistanceScore } from './outside/distances.ts';
import type { Postprocessing, PredictionScore } from './schema.ts';

/**
 * The parts of postprocessing that change answers, null for those that were not fitted; and the combination that they
 * are for; absent: the mean.
 */
export type Fitted = Pick<Postprocessing, 'calibration' | 'conformal' | 'outside' | 'selective'> &
  Partial<Pick<Postprocessing, 'combination'>>;

/** What answers of all tasks have, shape `[N]` each. */
interface Judged {
  /** How far a sample is from the training data; null without a threshold for it. */
  outsideScores: Float64Array | null;
  /** 1 where the score is above the threshold. */
  isOutside: Uint8Array | null;
  /**
   * The largest calibrated probability of classes, the expected share of right labels, or the negative mean variance of
   * values, 0 where none is known.
   */
  confidence: Float64Array;
  /** 1 where the confidence is below the threshold for the wished risk. */
  isWithheld: Uint8Array | null;
}

/** The ensemble's answers for N samples of K classes. */
export interface ClassAnswers extends Judged {
  /** Calibrated, shape `[N, K]`. */
  probabilities: Probabilities;
  /** Conformal sets, shape `[N, K]`: 1 where a class is in the sample's set; null where none were fitted. */
  sets: Uint8Array | null;
}

/** The ensemble's answers for N samples of L labels. */
export interface LabelAnswers extends Judged {
  /** Calibrated, shape `[N, L]`, and the logits of these. */
  probabilities: Float64Array;
  logits: Float64Array;
  /** Conformal sets, shape `[N, L]`: 1 where a sample may have the label; null where none were fitted. */
  sets: Uint8Array | null;
}

/** The ensemble's answers for N samples of T values. */
export interface ValueAnswers extends Judged {
  /** Shape `[N, T]`; of quantile regression the mean of the members' quantiles. */
  mean: Float64Array;
  /** Calibrated total variance, shape `[N, T]`; null for one member without variances, and for quantiles. */
  variance: Float64Array | null;
  /** Conformal intervals, shape `[N, T]` each; null where none were fitted. */
  intervals: Intervals | null;
}

/**
 * Applies what was fitted to new predictions of the same set: calibration first, then sets and thresholds. A part that
 * is null leaves the plain answer of the members.
 *
 * @param stack probabilities or logits of the set's members in its order, shape `[M, N, K]`; see `toTwoLogits` for a
 * binary task
 * @param distances for a score that is one, shape `[N]`
 * @throws RangeError where members or classes are not those of the fit
 */
export function applyToClasses(fitted: Fitted, stack: StackedClasses, distances?: Float64Array): ClassAnswers {
  const { combination = 'mean', calibration, conformal, outside } = fitted;
  const probabilities = calibratedProbabilities(calibration, answeringClasses(stack, combination));
  const sets = conformal?.kind === 'sets' ? classSets(conformal, probabilities) : null;
  const outsideScores = outsideScoresBy(outside, distances, (score) => classOutsideScores(score, stack));
  return { probabilities, sets, ...judge(fitted, outsideScores, largestProbability(probabilities)) };
}

/**
 * Applies what was fitted to new predictions of labels: calibration first, then sets and thresholds.
 *
 * @param stack a logit for each label of the set's members in its order, shape `[M, N, L]`
 * @param distances for a score that is one, shape `[N]`
 * @throws RangeError where the labels are not those of the fit
 */
export function applyToLabels(fitted: Fitted, stack: StackedLogits, distances?: Float64Array): LabelAnswers {
  const { combination = 'mean', calibration, conformal, outside } = fitted;
  const labels = stack.classes;
  const own = calibration?.method === 'labels' ? calibration : null;
  const logits = calibratedLogits(own, pooledLogits(answeringLabels(stack, combination)), labels);
  const probabilities = logits.map(sigmoid);
  const sets = conformal?.kind === 'sets' ? labelSets(conformal, probabilities, labels) : null;
  const outsideScores = outsideScoresBy(outside, distances, (score) => labelOutsideScores(score, stack));
  return { logits, probabilities, sets, ...judge(fitted, outsideScores, labelConfidence(probabilities, labels)) };
}

/** Largest probability of each sample, shape `[N]`. */
export function largestProbability({ samples, classes, values }: Probabilities): Float64Array {
  return new Float64Array(samples).map((_, sample) => {
    let largest = values[sample * classes];
    for (let index = sample * classes + 1; index < (sample + 1) * classes; index++) {
      if (!(values[index] <= largest)) largest = values[index];
    }
    return largest;
  });
}

/**
 * Applies what was fitted to predicted values: the standard deviations' scale first, then intervals and thresholds.
 *
 * @param means of the set's members in its order, shape `[M, N · T]`, in which the values of a sample follow each other
 * @param variances the same shape; null where the members predict none
 * @param columns T, values of a sample: targets, or quantiles
 * @param distances for a score that is one, shape `[N]`
 */
export function applyToValues(
  fitted: Fitted,
  means: StackedValues,
  variances: StackedValues | null,
  columns: number,
  distances?: Float64Array,
): ValueAnswers {
  const { conformal, outside } = fitted;
  const { mean, variance } = pooledValues(fitted, means, variances, columns);
  const centres =
    conformal?.kind === 'intervals' ? intervalCentres(conformal.quantiles, mean, variance, columns) : null;
  const intervals = conformal?.kind === 'intervals' && centres !== null ? conformalIntervals(conformal, centres) : null;
  const outsideScores = outsideScoresBy(outside, distances, (score) => valueOutsideScores(score, means, columns));
  return { mean, variance, intervals, ...judge(fitted, outsideScores, certainty(variance, mean.length, columns)) };
}

/** Mean and calibrated total variance, that of the mixture of the members or of their product, shape `[N, T]`. */
export function pooledValues(
  { combination = 'mean', calibration }: Pick<Fitted, 'combination' | 'calibration'>,
  given: StackedValues,
  givenVariances: StackedValues | null,
  columns: number,
): Pick<ValueAnswers, 'mean' | 'variance'> {
  const means = answeringRates(given, combination);
  const variances = givenVariances && answeringRates(givenVariances, combination);
  const mean = meanOverMembers(means);
  if (variances === null && means.members === 1) return { mean, variance: null };
  const plain = variances === null ? epistemicVariance(means) : totalVariance(means, variances);
  if (calibration?.method !== 'sigma') return { mean, variance: plain };
  if (calibration.scales.length !== columns) {
    throw new RangeError(
      `The predictions have ${columns} targets, the calibration was fitted for ${calibration.scales.length}: ` +
        'fit it again with `tutti calibrate`.',
    );
  }
  return { mean, variance: plain.map((value, index) => value * calibration.scales[index % columns] ** 2) };
}

/**
 * The members' Gaussians as the calibration leaves them, shape `[N, T]` each: stretched about the ensemble's mean μ by
 * the scale s of each target, Normal(μ + s (μ_m − μ), s² v_m). Their mixture has the mean μ and s times the standard
 * deviation. Without a calibration it is the mixture by which runs are judged.
 */
export function calibratedMixture(
  { calibration }: Pick<Fitted, 'calibration'>,
  means: StackedValues,
  variances: StackedValues,
  columns: number,
): Gaussians[] {
  checkSameShape(means, variances);
  const scales = calibration?.method === 'sigma' ? calibration.scales : [1];
  const scaleOf = (index: number): number => scales[(index % columns) % scales.length];
  const mean = meanOverMembers(means);
  return Array.from({ length: means.members }, (_, member) => {
    const [own, spread] = [memberValues(means, member), memberValues(variances, member)];
    if (calibration === null) return { means: own, variances: spread };
    return {
      means: mean.map((centre, i) => centre + scaleOf(i) * (own[i] - centre)),
      variances: Float64Array.from(spread, (value, i) => scaleOf(i) ** 2 * value),
    };
  });
}

/** What intervals start from: the mean twice, or two quantiles of Q, shape `[N]`. */
export function intervalCentres(
  quantiles: readonly [number, number] | null,
  mean: Float64Array,
  variance: Float64Array | null,
  columns: number,
): IntervalCentres {
  if (quantiles === null) return { lower: mean, upper: mean, deviations: variance?.map(Math.sqrt) ?? null };
  const at = (position: number) =>
    new Float64Array(mean.length / columns).map((_, sample) => mean[sample * columns + position]);
  return { lower: at(quantiles[0]), upper: at(quantiles[1]), deviations: null };
}

/** The negative mean variance of each sample's targets, shape `[N]`; 0 where no variance is known. */
export function certainty(variance: Float64Array | null, values: number, columns: number): Float64Array {
  const confidence = new Float64Array(values / columns);
  variance?.forEach((value, index) => (confidence[Math.floor(index / columns)] -= value / columns));
  return confidence;
}

/** @param scoresOf computes a score from what the members predict */
function outsideScoresBy(
  outside: Fitted['outside'],
  distances: Float64Array | undefined,
  scoresOf: (score: PredictionScore) => Float64Array,
): Float64Array | null {
  if (outside === null) return null;
  if (!isDistanceScore(outside.score)) return scoresOf(outside.score);
  if (distances !== undefined) return distances;
  throw new RangeError(
    `The score "${outside.score}" looks at the samples: give their distances, which ensembles of openEnsemble measure.`,
  );
}

function judge({ outside, selective }: Fitted, outsideScores: Float64Array | null, confidence: Float64Array): Judged {
  return {
    outsideScores,
    isOutside:
      outside === null || outsideScores === null
        ? null
        : Uint8Array.from(outsideScores, (score) => Number(!(score <= outside.threshold))),
    confidence,
    isWithheld:
      selective === null ? null : Uint8Array.from(confidence, (value) => Number(!(value >= selective.threshold))),
  };
}
