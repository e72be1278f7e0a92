import { disagreement, shareNotUnanimous } from '../diversity.ts';
import { entropy, expectedEntropy, mutualInformationOf } from '../uncertainty.ts';
import { weightedMean } from '../weights.ts';
import type { ClassEvaluation, ClassPrediction } from './class-evaluation.ts';
import { memberNllMetrics } from './member-nll.ts';
import { deepEnsembles, type Metric, type MetricInfo, type TaskKind } from './metric.ts';

const decomposition = 'Depeweg et al., 2018, Decomposition of uncertainty in Bayesian deep learning';
const tasks: readonly TaskKind[] = ['classification', 'binary', 'ordinal'];

type Text = Pick<MetricInfo, 'name' | 'title' | 'direction' | 'meaning' | 'formula' | 'reference'>;
type ClassMetric = Metric<ClassPrediction, ClassEvaluation>;

function ofEnsemble(text: Text, compute: (evaluation: ClassEvaluation) => number): ClassMetric {
  return { ...text, tasks, isStandard: true, of: 'ensemble', compute };
}

/** The metrics of a classification ensemble that compare its members, in order of presentation. */
export const classDiversity: readonly ClassMetric[] = [
  ...memberNllMetrics<ClassPrediction, ClassEvaluation>({
    tasks,
    formula: '−1/(M·N) Σ_m Σ log p_m(y)',
    reference: deepEnsembles,
  }),
  ofEnsemble(
    {
      name: 'disagreement',
      title: 'Disagreement',
      direction: 'none',
      meaning: 'Share of samples for which two members choose different classes, averaged over all pairs of members.',
      formula: '2/(M(M − 1)) Σ_m<m′ 1/N Σ [argmax p_m ≠ argmax p_m′]',
      reference: 'Fort et al., 2019, Deep ensembles: a loss landscape perspective',
    },
    ({ stack, ensemble }) => disagreement(stack, ensemble.weights),
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
    ({ stack, ensemble }) => shareNotUnanimous(stack, ensemble.weights),
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
    ({ ensemble }) => weightedMean(entropy(ensemble.probabilities), ensemble.weights),
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
    ({ ensemble, stack }) =>
      weightedMean(mutualInformationOf(entropy(ensemble.probabilities), expectedEntropy(stack)), ensemble.weights),
  ),
];
