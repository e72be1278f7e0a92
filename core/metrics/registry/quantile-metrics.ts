import { checkShape } from '../checks.ts';
import { mean, meanOverMembers, memberValues } from '../predictions.ts';
import { intervalShare, meanAbsoluteError, pinballLoss, type Quantiles } from '../scores/value-scores.ts';
import type { StackedValues, Values } from '../stacks.ts';
import type { Weights } from '../weights.ts';
import { type Evaluation, type Metric, type MetricInfo, type Prediction, standard } from './metric.ts';

/** What a quantile regressor predicts for a split. */
export interface QuantilePrediction extends Quantiles, Prediction {
  /** Shape `[N]`. */
  targets: Values;
}

/** Quantile regressors of the same split. */
export interface QuantileEvaluation extends Evaluation<QuantilePrediction> {
  /** M. */
  members: number;
}

/**
 * @param stack predicted quantiles, shape `[M, N · Q]`, those of a sample together; the ensemble predicts their means
 * over the members
 * @param targets shape `[N]`
 * @param levels of the quantiles in (0, 1), ascending, shape `[Q]`
 * @param weights shape `[N]`
 */
export function quantileEvaluation(
  stack: StackedValues,
  targets: Values,
  ranks: readonly number[],
  levels: readonly number[],
  weights?: Weights,
): QuantileEvaluation {
  checkShape('quantiles', memberValues(stack, 0), [targets.length, levels.length]);
  return {
    ranks,
    members: stack.members,
    ensemble: { values: meanOverMembers(stack), levels, targets, weights },
    member: (position) => ({ values: memberValues(stack, position), levels, targets, weights }),
  };
}

type QuantileMetric = Metric<QuantilePrediction, QuantileEvaluation>;
type Text = Pick<MetricInfo, 'name' | 'title' | 'direction' | 'meaning' | 'formula' | 'reference'> &
  Partial<Pick<MetricInfo, 'memberFormula'>>;

const common = { tasks: ['quantile-regression'], isStandard: true } as const;
const koenker = 'Koenker and Bassett, 1978, Regression quantiles';
const pinballOf = ({ targets, weights, ...quantiles }: QuantilePrediction): number =>
  pinballLoss(quantiles, targets, weights);

const score = (text: Text, compute: (prediction: QuantilePrediction) => number): QuantileMetric => ({
  ...common,
  ...text,
  of: 'prediction',
  compute,
});
const ofEnsemble = (text: Text, compute: (evaluation: QuantileEvaluation) => number): QuantileMetric => ({
  ...common,
  ...text,
  of: 'ensemble',
  compute,
});

const averageMemberPinball = (evaluation: QuantileEvaluation): number =>
  mean(Array.from({ length: evaluation.members }, (_, position) => pinballOf(evaluation.member(position))));

/** The metrics of quantile regression, in order of presentation. */
export const quantileMetrics: readonly QuantileMetric[] = [
  score(
    {
      name: 'pinball',
      title: 'Pinball loss',
      direction: 'min',
      meaning:
        'Distance of the target from each quantile, weighted by its level above and 1 − level below; smaller ' +
        'is better.',
      formula: '1/(N·Q) Σ Σ_q max(q (y − ȳ_q), (q − 1)(y − ȳ_q)), ȳ_q the mean of the members’ quantiles',
      memberFormula: '1/(N·Q) Σ Σ_q max(q (y − y_m,q), (q − 1)(y − y_m,q))',
      reference: koenker,
    },
    pinballOf,
  ),
  score(
    {
      name: 'interval_coverage',
      title: 'Coverage of the interval',
      direction: 'none',
      meaning:
        'Share of targets from the lowest to the highest quantile; the difference of their levels if the ' +
        'prediction is calibrated.',
      formula: '1/N Σ [ȳ_first ≤ y ≤ ȳ_last]',
      memberFormula: '1/N Σ [y_m,first ≤ y ≤ y_m,last]',
      reference: standard,
    },
    ({ targets, weights, ...quantiles }) => intervalShare(quantiles, targets, weights),
  ),
  ofEnsemble(
    {
      name: 'avg_member_pinball',
      title: 'Mean member pinball loss',
      direction: 'min',
      meaning: 'The mean of the members’ pinball losses: what one member alone achieves on average.',
      formula: '1/M Σ_m pinball_m',
      reference: koenker,
    },
    averageMemberPinball,
  ),
  ofEnsemble(
    {
      name: 'ensemble_gain',
      title: 'Diversity gain',
      direction: 'none',
      meaning: 'How much smaller the ensemble’s pinball loss is than its members’ on average. It is never negative.',
      formula: '1/M Σ_m pinball_m − pinball',
      reference: koenker,
    },
    (evaluation) => averageMemberPinball(evaluation) - pinballOf(evaluation.ensemble),
  ),
  {
    ...score(
      {
        name: 'mae',
        title: 'MAE of the median',
        direction: 'min',
        meaning: 'Mean absolute error of the quantile whose level is nearest to 1/2.',
        formula: '1/N Σ |ȳ_(1/2) − y|',
        memberFormula: '1/N Σ |y_m,(1/2) − y|',
        reference: standard,
      },
      ({ values, levels, targets, weights }) => {
        const distances = levels.map((level) => Math.abs(level - 0.5));
        const median = distances.indexOf(Math.min(...distances));
        return meanAbsoluteError(
          values.filter((_: number, index: number) => index % levels.length === median),
          targets,
          weights,
        );
      },
    ),
    isStandard: false,
  },
];
