import { checkSameShape } from '../checks.ts';
import { mixtureLogLikelihoods } from '../likelihood.ts';
import { memberValues } from '../predictions.ts';
import { aleatoricVariance, epistemicVariance, memberGaussianLogDensities } from '../regression.ts';
import { type Gaussians, intervalCoverage, rankedProbabilityScore } from '../scores/mixture-scores.ts';
import type { StackedValues, Values } from '../stacks.ts';
import { weightedMean, type Weights } from '../weights.ts';
import { type LikelihoodEvaluation, type LikelihoodPrediction, memberNllMetrics, predictionNll } from './member-nll.ts';
import { deepEnsembles, type Metric, type MetricInfo } from './metric.ts';
import { type ValueEvaluation, valueEvaluation, valueMetrics, type ValuePrediction } from './value-metrics.ts';

/** What a regressor of means and variances predicts for a split. */
export interface GaussianPrediction extends ValuePrediction, LikelihoodPrediction {
  /** One Gaussian of a member; of the ensemble those of its members, as a uniformly weighted mixture. */
  mixture: readonly Gaussians[];
}

/** Regressors of means and variances of the same split. */
export interface GaussianEvaluation
  extends ValueEvaluation<GaussianPrediction>, LikelihoodEvaluation<GaussianPrediction> {
  /** Shape `[M, N]`. */
  variances: StackedValues;
}

/** @throws RangeError when shapes differ or a variance is negative */
export function gaussianEvaluation(
  means: StackedValues,
  variances: StackedValues,
  targets: Values,
  ranks: readonly number[],
  columns = 1,
  weights?: Weights,
): GaussianEvaluation {
  checkSameShape(means, variances);
  const values = valueEvaluation(means, targets, ranks, columns, weights);
  const logLikelihoods = memberGaussianLogDensities(means, variances, targets);
  const mixture = logLikelihoods.map((_, member) => ({
    means: memberValues(means, member),
    variances: memberValues(variances, member),
  }));
  return {
    ...values,
    variances,
    logLikelihoods,
    ensemble: { ...values.ensemble, mixture, logLikelihoods: mixtureLogLikelihoods(logLikelihoods) },
    member: (position) => ({
      ...values.member(position),
      mixture: [mixture[position]],
      logLikelihoods: logLikelihoods[position],
    }),
  };
}

type GaussianMetric = Metric<GaussianPrediction, GaussianEvaluation>;
type Text = Pick<MetricInfo, 'name' | 'title' | 'direction' | 'meaning' | 'formula' | 'reference'> &
  Partial<Pick<MetricInfo, 'memberFormula'>>;

const common = { tasks: ['heteroscedastic-regression'], isStandard: true } as const;

function ofEnsemble(text: Text, compute: (evaluation: GaussianEvaluation) => number): GaussianMetric {
  return { ...common, ...text, of: 'ensemble', compute };
}

function score(text: Text, compute: (prediction: GaussianPrediction) => number): GaussianMetric {
  return { ...common, ...text, of: 'prediction', compute };
}

const coverages = [50, 90, 95].map((percent): GaussianMetric => ({
  ...score(
    {
      name: `coverage_${percent}`,
      title: `Coverage of the ${percent} % interval`,
      direction: 'none',
      meaning:
        `Share of targets in the central interval of probability ${percent} %; ${percent / 100} if the ` +
        'prediction is calibrated.',
      formula:
        `1/N Σ [${(100 - percent) / 200} ≤ F(y) ≤ ${(100 + percent) / 200}], F the distribution function of the ` +
        'mixture',
      memberFormula: `1/N Σ [${(100 - percent) / 200} ≤ F_m(y) ≤ ${(100 + percent) / 200}], F_m that of Normal(μ_m, σ²_m)`,
      reference: 'Gneiting and Raftery, 2007, Strictly proper scoring rules, prediction, and estimation',
    },
    ({ mixture, targets, weights }) => intervalCoverage(mixture, targets, percent / 100, weights),
  ),
  isStandard: false,
}));

const crps: GaussianMetric = {
  ...score(
    {
      name: 'crps',
      title: 'CRPS',
      direction: 'min',
      meaning:
        'Continuous ranked probability score: the distance between the predicted distribution and the target, ' +
        'in the target’s unit.',
      formula: '1/N Σ ∫ (F(x) − [x ≥ y])² dx, F the distribution function of the mixture',
      memberFormula: '1/N Σ ∫ (F_m(x) − [x ≥ y])² dx, F_m that of Normal(μ_m, σ²_m)',
      reference: 'Gneiting and Raftery, 2007, Strictly proper scoring rules, prediction, and estimation',
    },
    ({ mixture, targets, weights }) => rankedProbabilityScore(mixture, targets, weights),
  ),
  isStandard: false,
};

const likelihoods: readonly GaussianMetric[] = [
  score(
    {
      name: 'nll',
      title: 'NLL',
      direction: 'min',
      meaning: 'Negative log-likelihood of the targets under the predicted density, in nats; smaller is better.',
      formula: '−1/N Σ log(1/M Σ_m Normal(y; μ_m, σ²_m))',
      memberFormula: '−1/N Σ log Normal(y; μ_m, σ²_m)',
      reference: deepEnsembles,
    },
    predictionNll,
  ),
  ...memberNllMetrics<GaussianPrediction, GaussianEvaluation>({
    tasks: common.tasks,
    formula: '−1/(M·N) Σ_m Σ log Normal(y; μ_m, σ²_m)',
    reference: deepEnsembles,
  }),
  ofEnsemble(
    {
      name: 'aleatoric_variance',
      title: 'Aleatoric variance',
      direction: 'none',
      meaning:
        'The mean of the predicted variances, in the square of the target’s unit: noise in the data, which ' +
        'more data does not reduce.',
      formula: '1/N Σ 1/M Σ_m σ²_m',
      reference: deepEnsembles,
    },
    ({ variances, ensemble }) => weightedMean(aleatoricVariance(variances), ensemble.weights),
  ),
  ofEnsemble(
    {
      name: 'epistemic_variance',
      title: 'Epistemic variance',
      direction: 'none',
      meaning:
        'The variance of the members’ means, in the square of the target’s unit: what the members do not know ' +
        'and more data would teach.',
      formula: '1/N Σ 1/M Σ_m (μ_m − μ̄)²',
      reference: deepEnsembles,
    },
    ({ means, ensemble }) => weightedMean(epistemicVariance(means), ensemble.weights),
  ),
];

/** The metrics of heteroscedastic regression alone, in order of presentation. */
export const gaussianOnly: readonly GaussianMetric[] = [...likelihoods, crps, ...coverages];

/** All metrics of heteroscedastic regression. */
export const gaussianMetrics: readonly GaussianMetric[] = [...valueMetrics, ...gaussianOnly];
