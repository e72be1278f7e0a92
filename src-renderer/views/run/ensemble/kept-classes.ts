import {
  marginalNlls,
  memberLogLikelihoods,
  memberProbabilities,
  meanProbabilities,
  mutualInformation,
  type Probabilities,
  pairwiseDisagreement,
  predictiveEntropy,
  stackedClasses,
} from '../../../../core/metrics/index.ts';
import type { PredictionData } from '../../../../core/protocol/pages/rpc.ts';

/** What classifiers are seen to know by the predictions that were kept. Legend: `M` members, `N` samples, `K` classes. */
export interface KeptClasses {
  ranks: number[];
  targets: Int32Array;
  /** Of each member, `[N, K]`. */
  members: Probabilities[];
  /** The mean of the members' probabilities, `[N, K]`. */
  ensemble: Probabilities;
  /** In nats, `[N]`. */
  predictiveEntropy: Float64Array;
  /** In nats, `[N]`. */
  mutualInformation: Float64Array;
  /** Share of samples on which two members choose different classes, `[M, M]`. */
  disagreement: Float64Array;
  /** The ensemble's NLL without a member - its NLL, `[M]`. Above 0 the member helps; empty for a single one. */
  marginalNll: number[];
}

export function keptClasses({ kind, ranks, samples, width, outputs, targets }: PredictionData): KeptClasses {
  const form = kind === 'logits' ? 'logits' : 'probabilities';
  const stack = stackedClasses({ kind: form, members: ranks.length, samples, width, values: outputs[0] });
  const labels = Int32Array.from(targets);
  return {
    ranks,
    targets: labels,
    members: ranks.map((_, member) => memberProbabilities(stack, member)),
    ensemble: meanProbabilities(stack),
    predictiveEntropy: predictiveEntropy(stack),
    mutualInformation: mutualInformation(stack),
    disagreement: pairwiseDisagreement(stack),
    marginalNll: marginalNlls(memberLogLikelihoods(stack, labels)),
  };
}

/** Ranks whose predictions are not all finite; metrics that they enter are NaN. */
export function brokenRanks({ kind, ranks, samples, width, outputs }: PredictionData): number[] {
  const size = samples * width;
  // A logit of -Infinity is a class that a model rules out.
  const isFine = (value: number) => Number.isFinite(value) || (kind === 'logits' && value === -Infinity);
  return ranks.filter((_, member) =>
    outputs.some((output) => !output.subarray(member * size, (member + 1) * size).every(isFine)),
  );
}
