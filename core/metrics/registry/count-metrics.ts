import { mixtureLogLikelihoods } from '../likelihood.ts';
import { geometricMeanOverMembers, memberValues } from '../predictions.ts';
import { poissonDeviance, poissonLogProbabilities } from '../scores/value-scores.ts';
import type { StackedValues, Values } from '../stacks.ts';
import type { Weights } from '../weights.ts';
import { type LikelihoodEvaluation, type LikelihoodPrediction, memberNllMetrics, predictionNll } from './member-nll.ts';
import { type Metric, standard } from './metric.ts';
import { type ValueEvaluation, valueEvaluation, valueMetrics, type ValuePrediction } from './value-metrics.ts';

/** What a regressor of counts predicts for a split: `means` are its rates. */
export type CountPrediction = ValuePrediction & LikelihoodPrediction;

/**
 * Regressors of counts of the same split. The ensemble is the uniformly weighted mixture of their Poisson
 * distributions.
 */
export type CountEvaluation = ValueEvaluation<CountPrediction> & LikelihoodEvaluation<CountPrediction>;

/**
 * @param rates of all members, shape `[M, N]`
 * @param counts whole numbers from 0, shape `[N]`
 * @param columns T
 * @param weights shape `[N]`
 */
export function countEvaluation(
  rates: StackedValues,
  counts: Values,
  ranks: readonly number[],
  columns = 1,
  weights?: Weights,
): CountEvaluation {
  const values = valueEvaluation(rates, counts, ranks, columns, weights);
  const logLikelihoods = Array.from({ length: rates.members }, (_, member) =>
    poissonLogProbabilities(memberValues(rates, member), counts),
  );
  return {
    ...values,
    logLikelihoods,
    ensemble: { ...values.ensemble, logLikelihoods: mixtureLogLikelihoods(logLikelihoods) },
    member: (position) => ({ ...values.member(position), logLikelihoods: logLikelihoods[position] }),
  };
}

/** The product of experts: the Poisson distribution with the geometric mean of the rates, `[M, N]`. */
export function countProduct(rates: StackedValues, counts: Values, columns = 1, weights?: Weights): CountPrediction {
  const means = geometricMeanOverMembers(rates);
  return { means, targets: counts, columns, weights, logLikelihoods: poissonLogProbabilities(means, counts) };
}

type CountMetric = Metric<CountPrediction, CountEvaluation>;

const common = { tasks: ['poisson-regression'], isStandard: true } as const;

/** The metrics of Poisson regression alone, in order of presentation. */
export const countOnly: readonly CountMetric[] = [
  {
    ...common,
    name: 'nll',
    title: 'NLL',
    direction: 'min',
    of: 'prediction',
    meaning: 'Negative log-likelihood of the counts under the predicted distribution, in nats; smaller is better.',
    formula: '−1/N Σ log(1/M Σ_m Poisson(y; μ_m))',
    memberFormula: '−1/N Σ log Poisson(y; μ_m)',
    reference: standard,
    compute: predictionNll,
  },
  {
    ...common,
    name: 'deviance',
    title: 'Poisson deviance',
    direction: 'min',
    of: 'prediction',
    meaning: 'Twice how much smaller the log-likelihood of the rates is than that of rates equal to the counts.',
    formula: '2/N Σ (y log(y/μ̄) − y + μ̄)',
    reference: 'scikit-learn, mean_poisson_deviance',
    compute: ({ means, targets, weights }) => poissonDeviance(means, targets, weights),
  },
  ...memberNllMetrics<CountPrediction, CountEvaluation>({
    tasks: common.tasks,
    formula: '−1/(M·N) Σ_m Σ log Poisson(y; μ_m)',
    reference: standard,
  }),
];

/** All metrics of Poisson regression. */
export const countMetrics: readonly CountMetric[] = [...valueMetrics, ...countOnly];
