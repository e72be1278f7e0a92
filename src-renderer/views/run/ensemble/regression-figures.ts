import {
  aleatoricVariance,
  epistemicVariance,
  marginalNlls,
  meanOverMembers,
  meanSquaredError,
  memberGaussianLogDensities,
  type StackedValues,
} from '../../../../core/metrics/index.ts';
import type { PredictionData } from '../../../../core/protocol/pages/run-data.ts';

/** The figures of a regression ensemble, from the predictions that a run kept. Legend: `M` members, `N` values (samples times targets). */
export interface ValueStack {
  means: StackedValues;
  variances: StackedValues | null;
  /** shape `[N]` */
  targets: Float64Array;
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

export function valueStack({ ranks, outputs, targets }: PredictionData): ValueStack {
  const stackOf = (values: Float32Array) => ({ members: ranks.length, samples: targets.length, values });
  const variances = outputs.at(1);
  return {
    means: stackOf(outputs[0]),
    variances: variances === undefined ? null : stackOf(variances),
    targets: Float64Array.from(targets),
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
 * The marginal value of each member: the ensemble's error without it minus the ensemble's error, `[M]`; NLL where variances are
 * predicted, MSE otherwise. Above 0 the member helps; empty for a single member.
 */
export function marginalError({ means, variances, targets }: ValueStack): number[] {
  if (means.members === 1) return [];
  if (variances !== null) return marginalNlls(memberGaussianLogDensities(means, variances, targets));
  const error = (without: number | null) => meanSquaredError(meanOverMembers(means, without), targets);
  const whole = error(null);
  return Array.from({ length: means.members }, (_, member) => error(member) - whole);
}

/** The ensemble over the only feature. @throws unless there is one feature value for each predicted value */
export function featureBand(stack: ValueStack, feature: Float32Array): FeatureBand {
  if (feature.length !== stack.targets.length) {
    throw new Error(
      `${feature.length} feature values for ${stack.targets.length} predictions: the band needs one each, so draw it only for ` +
        'tasks with one feature and one target.',
    );
  }
  const order = [...feature.keys()].sort((left, right) => feature[left] - feature[right]);
  const ordered = (values: Float32Array | Float64Array) => Float64Array.from(order, (index) => values[index]);
  return {
    feature: ordered(feature),
    target: ordered(stack.targets),
    mean: ordered(meanOverMembers(stack.means)),
    aleatoricStd: ordered(aleatoricStd(stack)),
    epistemicStd: ordered(epistemicStd(stack)),
  };
}
