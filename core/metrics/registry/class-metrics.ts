import { expectedCalibrationError } from '../calibration.ts';
import { accuracy, brierScore } from '../classification.ts';
import { classwiseCalibrationError, equalMassCalibrationError } from '../scores/calibration-scores.ts';
import {
  auroc,
  classDistance,
  macroF1,
  meanAveragePrecision,
  quadraticKappa,
  topAccuracy,
} from '../scores/class-scores.ts';
import type { Probabilities } from '../stacks.ts';
import type { Weights } from '../weights.ts';
import type { ClassEvaluation, ClassPrediction } from './class-evaluation.ts';
import { classDiversity } from './class-diversity.ts';
import { predictionNll } from './member-nll.ts';
import { deepEnsembles, type Metric, type MetricInfo, standard, type TaskKind } from './metric.ts';

type ClassMetric = Metric<ClassPrediction, ClassEvaluation>;
type Text = Pick<MetricInfo, 'name' | 'title' | 'direction' | 'meaning' | 'formula' | 'reference'> &
  Partial<Pick<MetricInfo, 'memberFormula'>>;

const tasks: readonly TaskKind[] = ['classification', 'binary', 'ordinal'];

type Score = (probabilities: Probabilities, targets: Int32Array, weights?: Weights) => number;

/** A score of probabilities that every evaluation computes. */
function score(text: Text, compute: Score): ClassMetric {
  return {
    ...text,
    tasks,
    isStandard: true,
    of: 'prediction',
    compute: ({ probabilities, targets, weights }) => compute(probabilities, targets, weights),
  };
}

/** A score of probabilities on request. */
const more = (text: Text, compute: Score): ClassMetric => ({
  ...score(text, compute),
  isStandard: false,
});

const nll: ClassMetric = {
  name: 'nll',
  title: 'NLL',
  direction: 'min',
  tasks,
  isStandard: true,
  of: 'prediction',
  meaning: 'Negative log-likelihood of the labels under the prediction, in nats; smaller is better.',
  formula: '−1/N Σ log p̄(y)',
  reference: deepEnsembles,
  compute: predictionNll,
};

const topAccuracies = [2, 3, 5, 10].map((count) =>
  more(
    {
      name: `top${count}_acc`,
      title: `Top-${count} accuracy`,
      direction: 'max',
      meaning: `Share of samples whose label is among the ${count} most probable classes.`,
      formula: `1/N Σ [y in the ${count} largest p̄_k]`,
      memberFormula: `1/N Σ [y in the ${count} largest p_m,k]`,
      reference: standard,
    },
    (probabilities, targets, weights) => topAccuracy(probabilities, targets, count, weights),
  ),
);

/** The metrics of classification, in order of presentation. */
export const classMetrics: readonly ClassMetric[] = [
  nll,
  score(
    {
      name: 'acc',
      title: 'Accuracy',
      direction: 'max',
      meaning: 'Share of samples whose most probable class is the label.',
      formula: '1/N Σ [argmax p̄ = y]',
      reference: standard,
    },
    accuracy,
  ),
  score(
    {
      name: 'ece',
      title: 'ECE',
      direction: 'min',
      meaning:
        'Expected calibration error: the gap between confidence and accuracy, averaged over 15 bins of confidence.',
      formula: 'Σ_b |b|/N · |accuracy(b) − confidence(b)|',
      reference: 'Guo et al., 2017, On calibration of modern neural networks',
    },
    expectedCalibrationError,
  ),
  score(
    {
      name: 'brier',
      title: 'Brier score',
      direction: 'min',
      meaning: 'Mean squared distance between the probabilities and the label; smaller is better.',
      formula: '1/N Σ Σ_k (p̄_k − [y = k])²',
      reference: 'Brier, 1950, Verification of forecasts expressed in terms of probability',
    },
    brierScore,
  ),
  ...classDiversity,
  more(
    {
      name: 'auroc',
      title: 'AUROC',
      direction: 'max',
      meaning:
        'Area under the ROC curve: the probability that a sample of a class gets a larger probability of it than ' +
        'another sample; the mean over the classes, for two classes that of class 1.',
      formula: '1/K Σ_k P(p̄_k(n) > p̄_k(n′) | y_n = k, y_n′ ≠ k)',
      memberFormula: '1/K Σ_k P(p_m,k(n) > p_m,k(n′) | y_n = k, y_n′ ≠ k)',
      reference: 'Hanley and McNeil, 1982, The meaning and use of the area under a ROC curve',
    },
    auroc,
  ),
  more(
    {
      name: 'ap',
      title: 'Average precision',
      direction: 'max',
      meaning:
        'Precision averaged over the gains in recall, for thresholds of a class’s probability; the mean over the ' +
        'classes, for two classes that of class 1.',
      formula: '1/K Σ_k Σ_t (recall_t − recall_(t−1)) · precision_t',
      reference: 'scikit-learn, average_precision_score',
    },
    meanAveragePrecision,
  ),
  more(
    {
      name: 'f1',
      title: 'F1',
      direction: 'max',
      meaning: 'Harmonic mean of precision and recall of each class, averaged over the classes (macro).',
      formula: '1/K Σ_k 2 TP_k / (2 TP_k + FP_k + FN_k)',
      reference: 'scikit-learn, f1_score with average="macro"',
    },
    macroF1,
  ),
  ...topAccuracies,
  more(
    {
      name: 'classwise_ece',
      title: 'Class-wise ECE',
      direction: 'min',
      meaning:
        'The gap between each class’s probability and its share, averaged over 15 bins of the probability and ' +
        'over the classes.',
      formula: '1/K Σ_k Σ_b |b|/N · |share_k(b) − mean p̄_k(b)|',
      memberFormula: '1/K Σ_k Σ_b |b|/N · |share_k(b) − mean p_m,k(b)|',
      reference: 'Kull et al., 2019, Beyond temperature scaling',
    },
    classwiseCalibrationError,
  ),
  more(
    {
      name: 'equal_mass_ece',
      title: 'Equal-mass ECE',
      direction: 'min',
      meaning: 'Like the ECE, with 15 bins that hold equally many samples.',
      formula: 'Σ_b |b|/N · |accuracy(b) − confidence(b)|',
      reference: 'Nguyen and O’Connor, 2015, Posterior calibration and exploratory analysis',
    },
    equalMassCalibrationError,
  ),
];

/** The metrics of ordered classes alone. */
export const ordinalOnly: readonly ClassMetric[] = [
  {
    ...score(
      {
        name: 'mae',
        title: 'MAE of the class',
        direction: 'min',
        meaning: 'Mean distance between the most probable class and the label.',
        formula: '1/N Σ |argmax p̄ − y|',
        reference: standard,
      },
      classDistance,
    ),
    tasks: ['ordinal'],
  },
  {
    ...score(
      {
        name: 'kappa',
        title: 'Quadratic kappa',
        direction: 'max',
        meaning: 'Agreement of the most probable class with the label, by squared distances, beyond that of chance.',
        formula: '1 − Σ (argmax p̄ − y)² / (1/N Σ_n Σ_n′ (argmax p̄_n − y_n′)²)',
        memberFormula: '1 − Σ (argmax p_m − y)² / (1/N Σ_n Σ_n′ (argmax p_m,n − y_n′)²)',
        reference: 'scikit-learn, cohen_kappa_score with weights="quadratic"',
      },
      quadraticKappa,
    ),
    tasks: ['ordinal'],
  },
];
