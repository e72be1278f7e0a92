import { formatMetric } from '../text/numbers.ts';
import { isLargest } from './calibration/fit-temperature.ts';
import { neededForThreshold } from './conformal/fit-conformal.ts';
import type { Calibration, Conformal, Judged, Postprocessing } from './schema.ts';

/** `5.0 %`. */
export const formatShare = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** `200 validation samples`, and how they were divided. */
export function describeFittedOn({ samples, split, parts }: Postprocessing['fittedOn']): string {
  const divided = parts ? `, ${parts.calibration} for the calibration and ${parts.others} for the rest` : '';
  return `${samples} ${split} samples${divided}`;
}

/**
 * What was fitted, in words, and on what where that is not the mean:
 * `temperature 1.250 after averaging; conformal aps for 90.0 %`.
 */
export function describeFit(fitted: Postprocessing): string {
  const { combination, calibration, conformal, outside, selective } = fitted;
  const parts = [
    calibration === null ? 'no calibration' : describeCalibration(calibration, fitted),
    ...(conformal === null ? [] : [describeConformal(conformal)]),
    ...(outside === null ? [] : [`outside above ${outside.score} ${formatMetric(outside.threshold)}`]),
    ...(selective === null ? [] : [`answers from a confidence of ${formatMetric(selective.threshold)}`]),
  ];
  return `${combination === 'product' ? "on the members' product, " : ''}${parts.join('; ')}`;
}

type Names = Pick<Postprocessing, 'classNames' | 'targetNames'>;

function describeCalibration(calibration: Calibration, { classNames, targetNames }: Names): string {
  if (calibration.method === 'pooled-temperature') {
    return `temperature ${formatMetric(calibration.temperature)} after averaging`;
  }
  if (calibration.method === 'sigma') {
    return `standard deviations times ${factorsText(calibration.scales, targetNames)}`;
  }
  if (calibration.method === 'labels') return describeLabels(calibration, classNames);
  if (calibration.method !== 'temperature') return calibration.method;
  const { temperatures, fit } = calibration;
  const shown = fit === 'shared' ? temperatures.slice(0, 1) : temperatures;
  return `${fit} temperature${shown.length === 1 ? '' : 's'} ${shown.map(formatMetric).join(', ')} before averaging`;
}

function describeLabels(
  { fit, scale }: Extract<Calibration, { method: 'labels' }>,
  classNames: Names['classNames'],
): string {
  if (fit === 'platt') return "Platt's scale and bias of each label";
  const temperatures = (fit === 'shared' ? scale.slice(0, 1) : scale).map((own) => 1 / own);
  const shown = factorsText(temperatures, classNames);
  return `temperature${temperatures.length === 1 ? '' : 's'} ${shown} of the labels after averaging`;
}

/** `1.250 (height), 0.900 (mass)`; a factor alone, and factors without names, as they are. */
function factorsText(factors: readonly number[], names: readonly string[] | null): string {
  const isNamed = factors.length > 1 && names?.length === factors.length;
  return factors.map((factor, i) => formatMetric(factor) + (isNamed ? ` (${names[i]})` : '')).join(', ');
}

function describeConformal(conformal: Conformal): string {
  const each = conformal.kind === 'sets' && conformal.isClassConditional ? ' of each class' : '';
  const wished = `conformal ${conformal.method} for ${formatShare(1 - conformal.alpha)}${each}`;
  if (conformal.kind === 'intervals' || !conformal.compared) return wished;
  const { samples, needed, methods } = conformal.compared;
  if (methods.length === 0) {
    const each = conformal.isClassConditional ? ' of each class' : '';
    return (
      `${wished}, the default: scores are compared with ${needed} samples${each} or more, and there are ` +
      `${samples} for it`
    );
  }
  const sizes = methods.map(
    ({ method, meanSize, coverage }) => `${method} ${formatMetric(meanSize)} (${formatShare(coverage)})`,
  );
  return `${wished}, chosen by mean size and coverage on ${samples} other samples: ${sizes.join(', ')}`;
}

/** What cross-validation said of the calibration, a sentence; null where there was none. */
export function describeJudged({ judged }: Pick<Postprocessing, 'judged'>): string | null {
  if (judged === null) return null;
  const { method, samples, folds, gain, isKept, ends } = judged;
  const named = ends.map(formatMetric).join(', ');
  const atEnd = ends.length === 0 ? '' : ` Its temperature ${named} is an end of the range that is tried.`;
  if (!isKept && contradicts(judged))
    return `${method} is not kept, because the answers contradict the labels.${atEnd}`;
  if (!isKept && ends.some(isLargest)) {
    return (
      `${method} is not kept: its temperature ${named} is the end of the range that is tried, where all classes ` +
      'are equally probable. The answers say nothing of the labels of these samples.'
    );
  }
  if (folds < 2) return `${method} is not kept: ${samples} sample cannot show whether it helps.${atEnd}`;
  const change = `${formatMetric(gain.mean)} nats (95 %: ${formatMetric(gain.lower)} to ${formatMetric(gain.upper)})`;
  const where = `in ${folds}-fold cross-validation on ${samples} samples`;
  if (isKept) {
    const chance = gain.lower > 0 ? '' : ', which may be chance';
    return `${method} lowers the NLL by ${change} ${where}${chance}.${atEnd}`;
  }
  return `${method} is not kept, because it is not shown to help: it lowers the NLL by ${change} ${where}.${atEnd}`;
}

/** Whether the answers contradict the labels by more than chance. */
const contradicts = ({ agreement }: Judged): boolean => agreement !== null && agreement.upper < 0;

type Cautioned = Pick<Postprocessing, 'conformal'> & Partial<Names & Pick<Postprocessing, 'judged'>>;

/**
 * What a reader of answers must know: that the fitted samples contradict the members, and which sets and intervals hold
 * everything, because too few samples fitted them. With n samples the coverage 1 − α needs n ≥ 1/α − 1. Classes,
 * labels and targets have their names where these are known.
 */
export function cautionsOf(fitted: Cautioned): string[] {
  const { judged = null } = fitted;
  return [...(judged !== null && contradicts(judged) ? [describeContradiction(judged)] : []), ...tooFewOf(fitted)];
}

function describeContradiction({ agreement, samples }: Judged): string {
  const { mean, lower, upper } = agreement ?? { mean: NaN, lower: NaN, upper: NaN };
  return (
    `The answers contradict the labels of the ${samples} samples on which this was fitted: ln p of what is right ` +
    `lies ${formatMetric(-mean)} nats below its mean over all classes (95 %: ${formatMetric(-upper)} to ` +
    `${formatMetric(-lower)}), where guessing has 0. The labels probably do not belong to the inputs: check that ` +
    'the order of the classes is that of training and that labels and inputs have the same order of rows, then ' +
    'calibrate again.'
  );
}

function tooFewOf({ conformal, classNames, targetNames }: Cautioned): string[] {
  if (conformal === null) return [];
  const { alpha, counts } = conformal;
  const limits = conformal.kind === 'sets' ? conformal.thresholds : conformal.margins;
  const isEach = conformal.kind === 'sets' && conformal.isClassConditional;
  const needed = neededForThreshold(alpha);
  return limits.flatMap((limit, place) => {
    if (limit !== Infinity) return [];
    const count = counts[place];
    const had = `${count} sample${count === 1 ? '' : 's'}`;
    const rule = `a coverage of ${formatShare(1 - alpha)} needs ${needed}, or more where weights differ`;
    if (conformal.kind === 'intervals') {
      const target = limits.length === 1 ? '' : ` of ${targetNames?.[place] ?? `target ${place}`}`;
      return [`The intervals${target} have no ends: ${had} fitted them, and ${rule}.`];
    }
    const subject = isEach ? ` ${classNames?.[place] ?? `class ${place}`}` : ' all classes';
    return [`Every set has${subject}: ${had}${isEach ? ' of it' : ''} fitted the threshold, and ${rule}.`];
  });
}
