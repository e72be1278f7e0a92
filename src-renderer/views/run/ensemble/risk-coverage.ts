import { mostProbableClass, type Probabilities } from '../../../../core/metrics/index.ts';

/**
 * What remains wrong when the samples that an ensemble is least sure of are left to somebody else: the error rate over the share of
 * samples answered, from the surest on, `[N]` each.
 *
 * Source: El-Yaniv and Wiener, "On the foundations of noise-free selective classification", JMLR 11, 2010.
 */
export interface RiskCoverage {
  /** Share of samples answered, ascending to 1. */
  coverage: Float64Array;
  /** Error rate among the answered. */
  risk: Float64Array;
  /** Confidence of the least sure sample answered: the threshold that gives this coverage. */
  threshold: Float64Array;
}

/** Confidence is the probability of the most probable class. Null where a probability is not finite: no sample can be ranked then. */
export function riskCoverage(probabilities: Probabilities, targets: Int32Array): RiskCoverage | null {
  const { classes, values } = probabilities;
  if (!values.every(Number.isFinite)) return null;
  const chosen = mostProbableClass(probabilities);
  const confidence = Float64Array.from(chosen, (label, sample) => values[sample * classes + label]);
  const order = [...confidence.keys()].sort((left, right) => confidence[right] - confidence[left]);
  let errors = 0;
  return {
    coverage: Float64Array.from(order, (_, index) => (index + 1) / order.length),
    risk: Float64Array.from(order, (sample, index) => {
      if (chosen[sample] !== targets[sample]) errors += 1;
      return errors / (index + 1);
    }),
    threshold: Float64Array.from(order, (sample) => confidence[sample]),
  };
}
