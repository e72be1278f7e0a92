import { type ClassStack, mostProbableClass, type Probabilities } from '../ensemble-metrics.ts';

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

/** Confidence is the probability of the most probable class. */
export function riskCoverage(probabilities: Probabilities, { classes, targets }: ClassStack): RiskCoverage {
  const chosen = mostProbableClass(probabilities, classes);
  const confidence = Float64Array.from(chosen, (label, sample) => probabilities[sample * classes + label]);
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
