import { answeringLabels, type Combination } from '../combination.ts';
import { labelEvaluation } from '../registry/label-metrics.ts';
import { aurocOfLabels, averagePrecisionOfLabels, f1OfLabels } from './label-scores.ts';
import type { StackedLogits } from '../stacks.ts';
import { checkedWeights, type Weights } from '../weights.ts';

/** How well an ensemble predicts one of several labels. */
export interface LabelScores {
  label: string;
  /** Samples that have the label; with weights the sum of theirs. */
  samples: number;
  /** NaN where all samples have the label or none has. */
  auroc: number;
  /** Average precision; NaN where no sample has the label. */
  ap: number;
  /** NaN where no sample has the label and none gets it. */
  f1: number;
}

/**
 * The scores of each label, whose means over the labels are the ensemble's metrics `auroc`, `ap` and `f1`.
 *
 * @param stack a logit for each label, shape `[M, N, L]`
 * @param targets 0 or 1, shape `[N, L]`
 * @param names of the labels, shape `[L]`; their numbers by default
 * @param given weights, shape `[N, L]`
 * @param combination how the members answer
 */
export function scoresOfLabels(
  stack: StackedLogits,
  targets: ArrayLike<number>,
  names?: readonly string[],
  given?: Weights,
  combination: Combination = 'mean',
): LabelScores[] {
  const weights = checkedWeights(given, targets.length);
  const { ensemble } = labelEvaluation(answeringLabels(stack, combination), targets, [], weights);
  const [auroc, ap, f1] = [aurocOfLabels(ensemble), averagePrecisionOfLabels(ensemble), f1OfLabels(ensemble)];
  const samples = new Float64Array(stack.classes);
  for (let index = 0; index < targets.length; index++) {
    samples[index % stack.classes] += (weights?.[index] ?? 1) * targets[index];
  }
  return auroc.map((own, label) => ({
    label: names?.[label] ?? String(label),
    samples: samples[label],
    auroc: own,
    ap: ap[label],
    f1: f1[label],
  }));
}
