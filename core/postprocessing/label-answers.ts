import { mean as meanOf } from '../metrics/predictions.ts';
import type { StackedLogits } from '../metrics/stacks.ts';
import { logMixture } from './calibration/mixture.ts';
import { isWithin } from './conformal/class-sets.ts';
import type { Calibration, ConformalSets } from './schema.ts';

/** A scale and a bias for the logit of each label's probability. */
export type LabelCalibration = Extract<Calibration, { method: 'labels' }>;

/**
 * The logits of the ensemble's probabilities, log p̄ − log(1 − p̄) of the members' mean p̄, shape `[N, L]`.
 *
 * @param stack a logit for each label, shape `[M, N, L]`
 */
export function pooledLogits(stack: StackedLogits): Float64Array {
  const logarithms = logMixture(asPairs(stack));
  return new Float64Array(logarithms.length / 2).map((_, index) => logarithms[2 * index + 1] - logarithms[2 * index]);
}

/** Each label of each sample as two classes, that it is absent and that it is present: shape `[M, N · L, 2]`. */
export function asPairs({ members, samples, classes, logits }: StackedLogits): StackedLogits {
  const pairs = new Float32Array(2 * logits.length);
  logits.forEach((logit, index) => (pairs[2 * index + 1] = logit));
  return { members, samples: samples * classes, classes: 2, logits: pairs };
}

/**
 * Calibrated logits scale_l · z + bias_l of pooled logits z, shape `[N, L]`.
 * @throws RangeError for another number of labels
 */
export function calibratedLogits(
  calibration: LabelCalibration | null,
  logits: Float64Array,
  labels: number,
): Float64Array {
  if (calibration === null) return logits;
  const { scale, bias } = calibration;
  if (scale.length === labels) return logits.map((z, i) => scale[i % labels] * z + bias[i % labels]);
  throw new RangeError(
    `The predictions have ${labels} labels, the calibration was fitted for ${scale.length}: fit it again with ` +
      '`tutti calibrate`.',
  );
}

/**
 * Labels that a sample may have, shape `[N, L]`: 1 where 1 − p is at most the label's threshold, so that a label that
 * is present is missing with a probability of at most α.
 */
export function labelSets({ thresholds }: ConformalSets, probabilities: Float64Array, labels: number): Uint8Array {
  if (thresholds.length !== labels) {
    throw new RangeError(
      `The predictions have ${labels} labels, the conformal sets have thresholds for ${thresholds.length}: fit ` +
        'them again with `tutti calibrate`.',
    );
  }
  return Uint8Array.from(probabilities, (p, index) => Number(isWithin(1 - p, thresholds[index % labels])));
}

/** The expected share of right decisions, 1/L sum_l max(p_l, 1 − p_l), shape `[N]`. */
export function labelConfidence(probabilities: Float64Array, labels: number): Float64Array {
  return eachSample(probabilities, labels, (own) => meanOf(own.map((p) => Math.max(p, 1 - p))));
}

/** Applies `of` to the L values of each sample. */
export function eachSample(
  values: Float64Array,
  labels: number,
  of: (own: Float64Array, sample: number) => number,
): Float64Array {
  return new Float64Array(values.length / labels).map((_, n) => of(values.subarray(n * labels, (n + 1) * labels), n));
}

/** Probabilities of logits. */
export function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value));
}

/** log(1 + exp(z)), exact for large |z|. */
export function softplus(value: number): number {
  return Math.max(value, 0) + Math.log1p(Math.exp(-Math.abs(value)));
}
