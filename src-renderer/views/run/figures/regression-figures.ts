import { answeredValues, type Combination } from '../../../../core/metrics/combination.ts';
import {
  aleatoricVariance,
  coverageOfTransform,
  epistemicVariance,
  type Gaussians,
  marginalNlls,
  meanSquaredError,
  memberGaussianLogDensities,
  memberValues,
  probabilityIntegralTransform,
  type StackedValues,
} from '../../../../core/metrics/index.ts';
import type { PredictionData } from '../../../../core/protocol/pages/run-data.ts';

/**
 * The figures of a regression ensemble, from the predictions that a run kept. Legend: `M` members, `N` values (samples
 * times targets).
 */
export interface ValueStack {
  means: StackedValues;
  variances: StackedValues | null;
  /** shape `[N]` */
  targets: Float64Array;
  /** How the members answer. */
  combination: Combination;
}

/** An ensemble's prediction over one feature, by ascending feature, `[N]` each. */
export interface FeatureBand {
  feature: Float64Array;
  target: Float64Array;
  mean: Float64Array;
  /** Standard deviation of the noise that the members predict; 0 where they predict none. */
  aleatoricStd: Float64Array;
  /** Standard deviation between the members. */
  epistemicStd: Float64Array;
}

export function valueStack({ combination, ranks, outputs, targets }: PredictionData): ValueStack {
  const stackOf = (values: Float32Array) => ({ members: ranks.length, samples: targets.length, values });
  const variances = outputs.at(1);
  return {
    means: stackOf(outputs[0]),
    variances: variances === undefined ? null : stackOf(variances),
    targets: Float64Array.from(targets),
    combination,
  };
}

/** Standard deviation of the noise that the members predict, `[N]`; 0 where they predict none. */
export function aleatoricStd({ variances, targets }: ValueStack): Float64Array {
  return variances === null ? new Float64Array(targets.length) : aleatoricVariance(variances).map(Math.sqrt);
}

/** Standard deviation between the members, `[N]`; 0 for a single one. */
export function epistemicStd({ means }: ValueStack): Float64Array {
  return epistemicVariance(means).map(Math.sqrt);
}

/**
 * The marginal value of each member: the ensemble's error without it minus the ensemble's error, `[M]`; NLL where
 * variances are predicted, MSE otherwise. Above 0 the member helps; empty for a single member.
 */
export function marginalError({ means, variances, targets, combination }: ValueStack): number[] {
  if (means.members === 1) return [];
  if (variances !== null) return marginalNlls(memberGaussianLogDensities(means, variances, targets));
  const error = (without: number | null) => meanSquaredError(answeredValues(means, combination, without), targets);
  const whole = error(null);
  return Array.from({ length: means.members }, (_, member) => error(member) - whole);
}

/** What the ensemble misses: target − prediction, `[N]`; and the predictions themselves. */
export function residuals({ means, targets, combination }: ValueStack): {
  predicted: Float64Array;
  residual: Float64Array;
} {
  const predicted = answeredValues(means, combination);
  return { predicted, residual: targets.map((target, place) => target - predicted[place]) };
}

/**
 * The probability integral transform of each target under the mixture of some members' Gaussians, `[N]`; null where
 * they predict no variance, and so no distribution.
 *
 * @param members positions in the stack; all by default
 */
export function transforms(
  { means, variances, targets }: ValueStack,
  members?: readonly number[],
): Float64Array | null {
  if (variances === null) return null;
  const positions = members ?? Array.from({ length: means.members }, (_, member) => member);
  const mixture = positions.map((member): Gaussians => ({
    means: memberValues(means, member),
    variances: memberValues(variances, member),
  }));
  return probabilityIntegralTransform(mixture, targets);
}

/** Probabilities of the central intervals whose coverage is drawn: 0, 0.05, …, 1. */
export const coverageLevels: readonly number[] = Array.from({ length: 21 }, (_, step) => step / 20);

/**
 * The share of targets within the central interval of each of the {@link coverageLevels}.
 * @param weights of the targets; null: all count alike
 */
export function coverageLine(transform: Float64Array, weights: Float64Array | null): number[] {
  return coverageLevels.map((level) => coverageOfTransform(transform, level, weights ?? undefined));
}

/** The ensemble over the only feature. @throws unless there is one feature value for each predicted value */
export function featureBand(stack: ValueStack, feature: Float32Array): FeatureBand {
  if (feature.length !== stack.targets.length) {
    throw new Error(
      `${feature.length} feature values for ${stack.targets.length} predictions: the band needs one each, so draw ` +
        'it only for tasks with one feature and one target.',
    );
  }
  const order = [...feature.keys()].sort((left, right) => feature[left] - feature[right]);
  const ordered = (values: Float32Array | Float64Array) => Float64Array.from(order, (index) => values[index]);
  return {
    feature: ordered(feature),
    target: ordered(stack.targets),
    mean: ordered(answeredValues(stack.means, stack.combination)),
    aleatoricStd: ordered(aleatoricStd(stack)),
    epistemicStd: ordered(epistemicStd(stack)),
  };
}
