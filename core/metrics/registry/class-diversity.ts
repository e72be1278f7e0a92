import { disagreement, shareNotUnanimous } from '../diversity.ts';
import { nllOf } from '../likelihood.ts';
import { mean } from '../predictions.ts';
import { entropy, expectedEntropy, mutualInformationOf } from '../uncertainty.ts';
import type { ClassEvaluation, ClassPrediction } from './class-evaluation.ts';
import type { Metric, MetricInfo } from './metric.ts';
import { abe, decomposition, deepEnsembles } from './sources.ts';

type Text = Pick<MetricInfo, 'name' | 'title' | 'direction' | 'meaning' | 'formula' | 'reference'>;
type ClassMetric = Metric<ClassPrediction, ClassEvaluation>;

function ofEnsemble(text: Text, compute: (evaluation: ClassEvaluation) => number): ClassMetric {
  return { ...text, tasks: ['classification', 'binary', 'ordinal'], isStandard: true, of: 'ensemble', compute };
}

const averageMemberNll = ({ logLikelihoods }: ClassEvaluation): number => mean(logLikelihoods.map(nllOf));

/** The metrics of a classification ensemble that compare its members, in order of presentation. */
export const classDiversity: readonly ClassMetric[] = [
  ofEnsemble(
    {
      name: 'avg_member_nll',
      title: 'Mean member NLL',
      direction: 'min',
      meaning: 'The mean of the members’ NLLs: what one member alone achieves on average.',
      formula: '−1/(M·N) Σ_m Σ log p_m(y)',
      reference: deepEnsembles,
    },
    averageMemberNll,
  ),
  ofEnsemble(
    {
      name: 'ambiguity',
      title: 'Jensen gap',
      direction: 'none',
      meaning: 'How much smaller the ensemble’s NLL is than its members’ on average. It is never negative.',
      formula: '1/M Σ_m NLL_m − NLL',
      reference: abe,
    },
    (evaluation) => averageMemberNll(evaluation) - nllOf(evaluation.ensemble.logLikelihoods),
  ),
  ofEnsemble(
    {
      name: 'disagreement',
      title: 'Disagreement',
      direction: 'none',
      meaning: 'Share of samples for which two members choose different classes, averaged over all pairs of members.',
      formula: '2/(M(M − 1)) Σ_m<m′ 1/N Σ [argmax p_m ≠ argmax p_m′]',
      reference: 'Fort et al., 2019, Deep ensembles: a loss landscape perspective',
    },
    ({ stack }) => disagreement(stack),
  ),
  ofEnsemble(
    {
      name: 'not_unanimous',
      title: 'Not unanimous',
      direction: 'none',
      meaning: 'Share of samples for which the members do not all choose the same class.',
      formula: '1/N Σ [argmax p_m differ]',
      reference: 'torch-distributed-ensemble, which records it as val/disagreement',
    },
    ({ stack }) => shareNotUnanimous(stack),
  ),
  ofEnsemble(
    {
      name: 'predictive_entropy',
      title: 'Predictive entropy',
      direction: 'none',
      meaning: 'The total uncertainty of the mean prediction, aleatoric and epistemic.',
      formula: '1/N Σ H(p̄), H(p) = −Σ_k p_k log p_k',
      reference: decomposition,
    },
    ({ ensemble }) => mean(entropy(ensemble.probabilities)),
  ),
  ofEnsemble(
    {
      name: 'mutual_information',
      title: 'Mutual information',
      direction: 'none',
      meaning: 'The epistemic part of the uncertainty: large where members are confident in different classes.',
      formula: '1/N Σ (H(p̄) − 1/M Σ_m H(p_m))',
      reference: decomposition,
    },
    ({ ensemble, stack }) => mean(mutualInformationOf(entropy(ensemble.probabilities), expectedEntropy(stack))),
  ),
];
