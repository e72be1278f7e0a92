import { checkShape } from '../checks.ts';
import { mixtureLogLikelihoods, withEpsilon } from '../likelihood.ts';
import { mean, meanOverMembers } from '../predictions.ts';
import {
  exactMatch,
  labelAccuracy,
  labelAuroc,
  labelAveragePrecision,
  labelBrier,
  type LabelProbabilities,
  macroLabelF1,
  microLabelF1,
} from '../scores/label-scores.ts';
import type { StackedLogits } from '../stacks.ts';
import { weightedMean, type Weights } from '../weights.ts';
import { type LikelihoodEvaluation, type LikelihoodPrediction, memberNllMetrics, predictionNll } from './member-nll.ts';
import { type Metric, type MetricInfo, standard } from './metric.ts';

/** What a multi-label classifier predicts for a split. */
export type LabelPrediction = LabelProbabilities & LikelihoodPrediction;

/** Multi-label classifiers of the same split. */
export interface LabelEvaluation extends LikelihoodEvaluation<LabelPrediction> {
  members: readonly LabelPrediction[];
}

/**
 * @param stack a logit for each label, shape `[M, N, L]`
 * @param targets 0 or 1, shape `[N, L]`
 * @param weights shape `[N, L]`
 * @param nllEpsilon what the NLL adds to the probability of each label's state before its logarithm; 0: exact
 */
export function labelEvaluation(
  { members, samples, classes: labels, logits }: StackedLogits,
  targets: ArrayLike<number>,
  ranks: readonly number[],
  weights?: Weights,
  nllEpsilon = 0,
): LabelEvaluation {
  const size = samples * labels;
  checkShape('logits', logits, [members, samples, labels]);
  checkShape('targets', targets, [samples, labels]);
  const predictions = Array.from({ length: members }, (_, member) => {
    const own = Float64Array.from(logits.subarray(member * size, (member + 1) * size));
    return predictionOf(own, { targets, labels, weights });
  });
  const exact = predictions.map((prediction) => prediction.logLikelihoods);
  const mixture = withEpsilon(mixtureLogLikelihoods(exact), nllEpsilon);
  const ofMembers = exact.map((logarithms) => withEpsilon(logarithms, nllEpsilon));
  const probabilities = new Float64Array(size).map(
    (_, index) => predictions.reduce((sum, prediction) => sum + prediction.probabilities[index], 0) / members,
  );
  return {
    ranks,
    members: predictions,
    logLikelihoods: ofMembers,
    ensemble: { probabilities, logLikelihoods: mixture, targets, labels, weights },
    member: (position) => ({ ...predictions[position], logLikelihoods: ofMembers[position] }),
  };
}

/** The product of experts: of each label's Bernoulli distributions, it has the mean of the logits. */
export function labelProduct(
  { members, samples, classes: labels, logits }: StackedLogits,
  targets: ArrayLike<number>,
  weights?: Weights,
  nllEpsilon = 0,
): LabelPrediction {
  checkShape('logits', logits, [members, samples, labels]);
  checkShape('targets', targets, [samples, labels]);
  const means = meanOverMembers({ members, samples: samples * labels, values: logits });
  const exact = predictionOf(means, { targets, labels, weights });
  return { ...exact, logLikelihoods: withEpsilon(exact.logLikelihoods, nllEpsilon) };
}

function predictionOf(
  logits: Float64Array,
  of: Pick<LabelPrediction, 'targets' | 'labels' | 'weights'>,
): LabelPrediction {
  const logLikelihoods = logits.map((logit, index) => logSigmoid(of.targets[index] === 1 ? logit : -logit));
  return { probabilities: logits.map((logit) => 1 / (1 + Math.exp(-logit))), logLikelihoods, ...of };
}

/** log(1 / (1 + exp(-z))), exact for large |z|. */
function logSigmoid(logit: number): number {
  return Math.min(logit, 0) - Math.log1p(Math.exp(-Math.abs(logit)));
}

type LabelMetric = Metric<LabelPrediction, LabelEvaluation>;
type Text = Pick<MetricInfo, 'name' | 'title' | 'direction' | 'meaning' | 'formula' | 'reference'>;

const common = { tasks: ['multi-label'], isStandard: true } as const;
const score = (text: Text, compute: (prediction: LabelPrediction) => number): LabelMetric => ({
  ...common,
  ...text,
  of: 'prediction',
  compute,
});
const more = (text: Text, compute: (prediction: LabelPrediction) => number): LabelMetric => ({
  ...score(text, compute),
  isStandard: false,
});
const ofEnsemble = (text: Text, compute: (evaluation: LabelEvaluation) => number): LabelMetric => ({
  ...common,
  ...text,
  of: 'ensemble',
  compute,
});

/** Share of labels that two members decide differently, over all pairs of members; 0 for one member. */
function disagreement({ members, ensemble: { weights } }: LabelEvaluation): number {
  const shares = members.flatMap(({ probabilities }, at) =>
    members.slice(0, at).map((other) =>
      weightedMean(
        probabilities.map((p, index) => {
          const q = other.probabilities[index];
          if (!Number.isFinite(p) || !Number.isFinite(q)) return NaN;
          return p > 0.5 === q > 0.5 ? 0 : 1;
        }),
        weights,
      ),
    ),
  );
  return shares.length === 0 ? 0 : mean(shares);
}

/**
 * The metrics of multi-label classification, in order of presentation. A label is predicted from a probability above
 * 1/2.
 */
export const labelMetrics: readonly LabelMetric[] = [
  score(
    {
      name: 'nll',
      title: 'NLL',
      direction: 'min',
      meaning: 'Negative log-likelihood of the states of the labels, in nats, the mean over samples and labels.',
      formula: '−1/(N·L) Σ Σ_l log p̄_l(y_l)',
      reference: standard,
    },
    predictionNll,
  ),
  score(
    {
      name: 'acc',
      title: 'Accuracy',
      direction: 'max',
      meaning: 'Share of all labels of all samples that are right (1 − Hamming loss).',
      formula: '1/(N·L) Σ Σ_l [(p̄_l > 1/2) = y_l]',
      reference: 'scikit-learn, hamming_loss',
    },
    labelAccuracy,
  ),
  score(
    {
      name: 'exact_match',
      title: 'Exact match',
      direction: 'max',
      meaning: 'Share of samples with all labels right.',
      formula: '1/N Σ [(p̄_l > 1/2) = y_l for all l]',
      reference: 'scikit-learn, accuracy_score',
    },
    exactMatch,
  ),
  score(
    {
      name: 'f1',
      title: 'F1',
      direction: 'max',
      meaning: 'Harmonic mean of precision and recall of each label, averaged over the labels (macro).',
      formula: '1/L Σ_l 2 TP_l / (2 TP_l + FP_l + FN_l)',
      reference: 'scikit-learn, f1_score with average="macro"',
    },
    macroLabelF1,
  ),
  score(
    {
      name: 'f1_micro',
      title: 'F1, micro',
      direction: 'max',
      meaning: 'Harmonic mean of precision and recall of all labels together.',
      formula: '2 TP / (2 TP + FP + FN), sums over samples and labels',
      reference: 'scikit-learn, f1_score with average="micro"',
    },
    microLabelF1,
  ),
  score(
    {
      name: 'brier',
      title: 'Brier score',
      direction: 'min',
      meaning: 'Mean squared distance between the probabilities and the states of the labels.',
      formula: '1/(N·L) Σ Σ_l (p̄_l − y_l)²',
      reference: 'Brier, 1950, Verification of forecasts expressed in terms of probability',
    },
    labelBrier,
  ),
  ...memberNllMetrics<LabelPrediction, LabelEvaluation>({
    tasks: common.tasks,
    formula: '1/M Σ_m NLL_m',
    reference: standard,
  }),
  ofEnsemble(
    {
      name: 'disagreement',
      title: 'Disagreement',
      direction: 'none',
      meaning: 'Share of labels that two members decide differently, averaged over all pairs of members.',
      formula: '2/(M(M − 1)) Σ_m<m′ 1/(N·L) Σ Σ_l [(p_m,l > 1/2) ≠ (p_m′,l > 1/2)]',
      reference: 'Fort et al., 2019, Deep ensembles: a loss landscape perspective',
    },
    disagreement,
  ),
  more(
    {
      name: 'auroc',
      title: 'AUROC',
      direction: 'max',
      meaning: 'Area under the ROC curve of each label, averaged over the labels.',
      formula: '1/L Σ_l P(p̄_l(n) > p̄_l(n′) | y_n has l, y_n′ has not)',
      reference: 'Hanley and McNeil, 1982, The meaning and use of the area under a ROC curve',
    },
    labelAuroc,
  ),
  more(
    {
      name: 'ap',
      title: 'Average precision',
      direction: 'max',
      meaning: 'Average precision of each label, averaged over the labels.',
      formula: '1/L Σ_l Σ_t (recall_t − recall_(t−1)) · precision_t',
      reference: 'scikit-learn, average_precision_score',
    },
    labelAveragePrecision,
  ),
];
