import { nllOf } from '../likelihood.ts';
import { mean } from '../predictions.ts';
import { answerOf, type Evaluation, type Metric, type Prediction, type TaskKind } from './metric.ts';

/** A prediction with a likelihood of its targets. */
export interface LikelihoodPrediction extends Prediction {
  /** Logarithms of the targets' probabilities or densities in nats, in the shape of the targets. */
  logLikelihoods: Float64Array;
}

/** Members with likelihoods. */
export interface LikelihoodEvaluation<P extends LikelihoodPrediction> extends Evaluation<P> {
  /** Those of every member: M arrays. */
  logLikelihoods: readonly Float64Array[];
}

/** -Σ w log p / Σ w over the targets. */
export function predictionNll({ logLikelihoods, weights }: LikelihoodPrediction): number {
  return nllOf(logLikelihoods, weights);
}

/**
 * The two metrics that compare members' NLLs with the ensemble's: their mean, and how much it exceeds the ensemble's
 * (the Jensen gap).
 *
 * @param about of the mean: its tasks, formula and source
 */
export function memberNllMetrics<P extends LikelihoodPrediction, E extends LikelihoodEvaluation<P>>(about: {
  tasks: readonly TaskKind[];
  formula: string;
  reference: string;
}): readonly Metric<P, E>[] {
  const meanOfMembers = ({ logLikelihoods, ensemble }: E): number =>
    mean(logLikelihoods.map((ofMember) => nllOf(ofMember, ensemble.weights)));
  const common = { tasks: about.tasks, isStandard: true, of: 'ensemble' } as const;
  return [
    {
      ...common,
      name: 'avg_member_nll',
      title: 'Mean member NLL',
      direction: 'min',
      meaning: 'The mean of the members’ NLLs: what one member alone achieves on average.',
      formula: about.formula,
      reference: about.reference,
      compute: meanOfMembers,
    },
    {
      ...common,
      name: 'ambiguity',
      title: 'Diversity gain',
      direction: 'none',
      meaning:
        'How much smaller the ensemble’s NLL is than its members’ on average (the Jensen gap). It is never negative.',
      formula: '1/M Σ_m NLL_m − NLL',
      reference: 'Abe et al., 2022, Deep ensembles work, but are they necessary?',
      compute: (evaluation: E) => meanOfMembers(evaluation) - predictionNll(answerOf<LikelihoodPrediction>(evaluation)),
    },
  ];
}
