import { checkShape } from '../checks.ts';
import { meanOverMembers, memberValues } from '../predictions.ts';
import { averageMemberMse, ensembleStd, meanSquaredError } from '../regression.ts';
import { determination, meanAbsoluteError } from '../scores/value-scores.ts';
import type { StackedValues, Values } from '../stacks.ts';
import type { Weights } from '../weights.ts';
import {
  answerOf,
  deepEnsembles,
  type Evaluation,
  type Metric,
  type MetricInfo,
  type Prediction,
  standard,
  type TaskKind,
} from './metric.ts';

/** What a regressor predicts for a split. */
export interface ValuePrediction extends Prediction {
  /** Shape `[N]`, in which several targets of a sample follow each other. */
  means: Values;
  /** Shape `[N]`. */
  targets: Values;
  /** T, targets of a sample. */
  columns: number;
}

/** Regressors of the same split. */
export interface ValueEvaluation<P extends ValuePrediction = ValuePrediction> extends Evaluation<P> {
  /** Shape `[M, N]`. */
  means: StackedValues;
  /** Shape `[N]`. */
  targets: Values;
}

/** @param columns T; N counts values, so it is a multiple of T @param weights shape `[N]` */
export function valueEvaluation(
  means: StackedValues,
  targets: Values,
  ranks: readonly number[],
  columns = 1,
  weights?: Weights,
): Omit<ValueEvaluation, 'product'> {
  checkShape('targets', targets, [means.samples / columns, columns]);
  return {
    means,
    targets,
    ranks,
    ensemble: { means: meanOverMembers(means), targets, columns, weights },
    member: (position) => ({ means: memberValues(means, position), targets, columns, weights }),
  };
}

type ValueMetric = Metric<ValuePrediction, ValueEvaluation>;
type Text = Pick<MetricInfo, 'name' | 'title' | 'direction' | 'isStandard' | 'meaning' | 'formula' | 'reference'>;

const tasks: readonly TaskKind[] = ['regression', 'heteroscedastic-regression', 'poisson-regression'];

function score(text: Text, compute: (prediction: ValuePrediction) => number): ValueMetric {
  return { ...text, tasks, of: 'prediction', compute };
}

function ofEnsemble(text: Text, compute: (evaluation: ValueEvaluation) => number): ValueMetric {
  return { ...text, tasks, of: 'ensemble', compute };
}

/** The metrics of all regressions, in order of presentation. */
export const valueMetrics: readonly ValueMetric[] = [
  score(
    {
      name: 'mse',
      title: 'MSE',
      direction: 'min',
      isStandard: true,
      meaning: 'Mean squared error of the prediction; an ensemble predicts the mean of its members’ means.',
      formula: '1/N Σ (μ̄ − y)²',
      reference: standard,
    },
    ({ means, targets, weights }) => meanSquaredError(means, targets, weights),
  ),
  ofEnsemble(
    {
      name: 'avg_member_mse',
      title: 'Mean member MSE',
      direction: 'min',
      isStandard: true,
      meaning: 'The mean of the members’ MSEs: what one member alone achieves on average.',
      formula: '1/(M·N) Σ_m Σ (μ_m − y)²',
      reference: standard,
    },
    ({ means, targets, ensemble }) => averageMemberMse(means, targets, ensemble.weights),
  ),
  ofEnsemble(
    {
      name: 'ensemble_gain',
      title: 'Diversity gain',
      direction: 'none',
      isStandard: true,
      meaning:
        'How much smaller the ensemble’s MSE is than its members’ on average. That of the mean is never negative.',
      formula: '1/M Σ_m MSE_m − MSE',
      reference: 'Krogh and Vedelsby, 1994, Neural network ensembles, cross validation, and active learning',
    },
    ({ means, targets, ...evaluation }) => {
      const { means: answer, weights } = answerOf<ValuePrediction>(evaluation);
      return averageMemberMse(means, targets, weights) - meanSquaredError(answer, targets, weights);
    },
  ),
  ofEnsemble(
    {
      name: 'ens_std',
      title: 'Ensemble standard deviation',
      direction: 'none',
      isStandard: true,
      meaning: 'How far the members’ means spread, averaged over the samples; 0 for a single member.',
      formula: '1/N Σ √(1/(M − 1) Σ_m (μ_m − μ̄)²)',
      reference: deepEnsembles,
    },
    ({ means, ensemble }) => ensembleStd(means, ensemble.weights),
  ),
  score(
    {
      name: 'mae',
      title: 'MAE',
      direction: 'min',
      isStandard: false,
      meaning: 'Mean absolute error of the prediction.',
      formula: '1/N Σ |μ̄ − y|',
      reference: standard,
    },
    ({ means, targets, weights }) => meanAbsoluteError(means, targets, weights),
  ),
  score(
    {
      name: 'r2',
      title: 'R²',
      direction: 'max',
      isStandard: false,
      meaning: 'Share of the targets’ variance that the prediction explains; the mean over the targets of a sample.',
      formula: '1 − Σ (μ̄ − y)² / Σ (y − mean y)²',
      reference: 'scikit-learn, r2_score',
    },
    ({ means, targets, columns, weights }) => determination(means, targets, columns, weights),
  ),
];
