/**
 * Metrics of ensembles: pure functions of predictions and targets, computed in float64. M members predict N samples of
 * K classes; logarithms are natural, so likelihoods and entropies are in nats.
 *
 * @module Metrics
 */

export { expectedCalibrationError, reliabilityBins, type ReliabilityBin } from './calibration.ts';
export { accuracy, brierScore, confusionMatrix, mostProbableClass, negativeLogLikelihood } from './classification.ts';
export { averageMemberNll, disagreement, jensenGap, pairwiseDisagreement, shareNotUnanimous } from './diversity.ts';
export {
  classificationMetrics,
  countEnsembleMetrics,
  labelEnsembleMetrics,
  quantileEnsembleMetrics,
  regressionMetrics,
  type MetricOptions,
  type Metrics,
} from './ensemble-metrics.ts';
export { type LabelScores, scoresOfLabels } from './scores/label-table.ts';
export { marginalNlls, memberLogLikelihoods } from './likelihood.ts';
export {
  mean,
  meanOverMembers,
  meanProbabilities,
  memberProbabilities,
  logitsOf,
  memberValues,
  probabilitiesOf,
  geometricMeanOverMembers,
  productOfExperts,
  stackedClasses,
  toTwoClasses,
  toTwoLogits,
} from './predictions.ts';
export {
  aleatoricVariance,
  averageMemberMse,
  ensembleGain,
  ensembleStd,
  epistemicVariance,
  gaussianMixtureNll,
  gaussianNll,
  meanSquaredError,
  memberGaussianLogDensities,
  memberGaussianNlls,
  totalVariance,
  unbiasedVariance,
} from './regression.ts';
export { classwiseCalibrationError, equalMassCalibrationError } from './scores/calibration-scores.ts';
export { auroc, macroF1, meanAveragePrecision, topAccuracy } from './scores/class-scores.ts';
export {
  coverageOfTransform,
  type Gaussians,
  intervalCoverage,
  probabilityIntegralTransform,
  rankedProbabilityScore,
} from './scores/mixture-scores.ts';
export { determination, meanAbsoluteError } from './scores/value-scores.ts';
export { entropy, expectedEntropy, mutualInformation, predictiveEntropy } from './uncertainty.ts';
export type {
  PredictedClasses,
  Probabilities,
  StackedClasses,
  StackedLogits,
  StackedProbabilities,
  StackedValues,
  Values,
} from './stacks.ts';
