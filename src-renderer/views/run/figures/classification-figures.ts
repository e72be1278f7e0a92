import { answeredProbabilities } from '../../../../core/metrics/combination.ts';
import {
  entropy,
  marginalNlls,
  memberLogLikelihoods,
  memberProbabilities,
  mostProbableClass,
  mutualInformation,
  type Probabilities,
  pairwiseDisagreement,
  productOfExperts,
  type StackedClasses,
  stackedClasses,
} from '../../../../core/metrics/index.ts';
import { logLikelihoods, nllOf } from '../../../../core/metrics/likelihood.ts';
import type { HistogramProps } from '../../../charts/types.ts';
import type { PredictionData } from '../../../../core/protocol/pages/run-data.ts';

/**
 * The figures of a classification ensemble, from the predictions that a run kept. Legend: `M` members, `N` samples, `K`
 * classes.
 */
export interface KeptClasses {
  ranks: number[];
  targets: Int32Array;
  /** Of each member, `[N, K]`. */
  members: Probabilities[];
  /** What the ensemble answers, `[N, K]`. */
  ensemble: Probabilities;
  /** The values in nats, `[N]`. */
  predictiveEntropy: Float64Array;
  /** The values in nats, `[N]`. */
  mutualInformation: Float64Array;
  /** Share of samples for which two members choose different classes, `[M, M]`. */
  disagreement: Float64Array;
  /** The ensemble's NLL without a member minus its NLL, `[M]`. Above 0 the member helps; empty for a single member. */
  marginalNll: number[];
}

export function keptClasses({ combination, ...data }: PredictionData): KeptClasses {
  const { kind, ranks, samples, width, outputs, targets } = data;
  const form = kind === 'logits' ? 'logits' : 'probabilities';
  const stack = stackedClasses({ kind: form, members: ranks.length, samples, width, values: outputs[0] });
  const labels = Int32Array.from(targets);
  const ensemble = answeredProbabilities(stack, combination);
  return {
    ranks,
    targets: labels,
    members: ranks.map((_, member) => memberProbabilities(stack, member)),
    ensemble,
    predictiveEntropy: entropy(ensemble),
    mutualInformation: mutualInformation(stack),
    disagreement: pairwiseDisagreement(stack),
    marginalNll:
      combination === 'mean' ? marginalNlls(memberLogLikelihoods(stack, labels)) : marginalOfProduct(stack, labels),
  };
}

/** The NLL of the product without each member minus that of the product. */
function marginalOfProduct(stack: StackedClasses, labels: Int32Array): number[] {
  if (stack.members === 1) return [];
  const nll = (without: number | null): number => nllOf(logLikelihoods(productOfExperts(stack, without), labels));
  const whole = nll(null);
  return Array.from({ length: stack.members }, (_, member) => nll(member) - whole);
}

/** Names of the classes, `[K]`: those of the project where it names as many, else their numbers. */
export function namesOfClasses({ classNames }: Pick<PredictionData, 'classNames'>, classes: number): string[] {
  return Array.from({ length: classes }, (_, label) =>
    classNames?.length === classes ? classNames[label] : String(label),
  );
}

/** Ranks whose predictions are not all finite. Metrics that use them are NaN. */
export function brokenRanks({ kind, ranks, samples, width, outputs }: PredictionData): number[] {
  const size = samples * width;
  // A logit of -Infinity rules a class out.
  const isFine = (value: number) => Number.isFinite(value) || (kind === 'logits' && value === -Infinity);
  return ranks.filter((_, member) =>
    outputs.some((output) => !output.subarray(member * size, (member + 1) * size).every(isFine)),
  );
}

/**
 * The error rate of an ensemble that answers only the samples in which it is most confident, over the share that it
 * answers, `[N]` each.
 *
 * Source: El-Yaniv and Wiener, "On the foundations of noise-free selective classification", JMLR 11, 2010.
 */
export interface RiskCoverage {
  /** Share of samples answered, ascending to 1. */
  coverage: Float64Array;
  /** Error rate among the answered samples. */
  risk: Float64Array;
  /** Confidence of the least confident answered sample: the threshold for this coverage. */
  threshold: Float64Array;
}

/**
 * Confidence is the probability of the most probable class. Null where a probability is not finite, as samples cannot
 * be ranked then.
 */
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

/** The values of correctly and of wrongly classified samples, as the groups of a histogram. */
export function splitByHit(values: Float64Array, chosen: Int32Array, targets: Int32Array): HistogramProps['groups'] {
  const isHit = (_: number, sample: number) => chosen[sample] === targets[sample];
  return [
    { label: 'correct', color: 'accent', values: values.filter(isHit) },
    { label: 'wrong', color: 'bad', values: values.filter((value, sample) => !isHit(value, sample)) },
  ];
}
