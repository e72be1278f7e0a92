import { mixtureLogLikelihoods, nllOf } from '../likelihood.ts';
import { mean, memberValues } from '../predictions.ts';
import { poissonDeviance, poissonLogProbabilities } from '../scores/poisson.ts';
import type { StackedValues, Values } from '../stacks.ts';
import type { Metric } from './metric.ts';
import { abe, standard } from './sources.ts';
import { type ValueEvaluation, valueEvaluation, valueMetrics, type ValuePrediction } from './value-metrics.ts';

/** What a regressor of counts predicts for a split: `means` are its rates. */
export interface CountPrediction extends ValuePrediction {
  /** Log-probabilities of the targets in nats, shape `[N]`. */
  logProbabilities: Float64Array;
}

/** Regressors of counts of the same split. The ensemble is the uniformly weighted mixture of their Poisson distributions. */
export interface CountEvaluation extends ValueEvaluation<CountPrediction> {
  /** M arrays of shape `[N]`. */
  logProbabilities: readonly Float64Array[];
}

/** @param rates of all members, shape `[M, N]` @param counts whole numbers from 0, shape `[N]` @param columns T */
export function countEvaluation(
  rates: StackedValues,
  counts: Values,
  ranks: readonly number[],
  columns = 1,
): CountEvaluation {
  const values = valueEvaluation(rates, counts, ranks, columns);
  const logProbabilities = Array.from({ length: rates.members }, (_, member) =>
    poissonLogProbabilities(memberValues(rates, member), counts),
  );
  return {
    ...values,
    logProbabilities,
    ensemble: { ...values.ensemble, logProbabilities: mixtureLogLikelihoods(logProbabilities) },
    member: (position) => ({ ...values.member(position), logProbabilities: logProbabilities[position] }),
  };
}

type CountMetric = Metric<CountPrediction, CountEvaluation>;

const common = { tasks: ['poisson-regression'], isStandard: true } as const;
const averageMemberNll = ({ logProbabilities }: CountEvaluation): number => mean(logProbabilities.map(nllOf));

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
    compute: ({ logProbabilities }) => nllOf(logProbabilities),
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
    compute: ({ means, targets }) => poissonDeviance(means, targets),
  },
  {
    ...common,
    name: 'avg_member_nll',
    title: 'Mean member NLL',
    direction: 'min',
    of: 'ensemble',
    meaning: 'The mean of the members’ NLLs: what one member alone achieves on average.',
    formula: '−1/(M·N) Σ_m Σ log Poisson(y; μ_m)',
    reference: standard,
    compute: averageMemberNll,
  },
  {
    ...common,
    name: 'ambiguity',
    title: 'Jensen gap',
    direction: 'none',
    of: 'ensemble',
    meaning: 'How much smaller the ensemble’s NLL is than its members’ on average. It is never negative.',
    formula: '1/M Σ_m NLL_m − NLL',
    reference: abe,
    compute: (evaluation) => averageMemberNll(evaluation) - nllOf(evaluation.ensemble.logProbabilities),
  },
];

/** All metrics of Poisson regression. */
export const countMetrics: readonly CountMetric[] = [...valueMetrics, ...countOnly];
