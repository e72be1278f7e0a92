import { mean } from '../predictions.ts';
import { areCountedFinite, weightedMean, type Weights } from '../weights.ts';
import { areaUnderRoc, averagePrecision } from './ranking.ts';

/** Predicted probabilities of L labels, which a sample may have in any combination. */
export interface LabelProbabilities {
  /** Shape `[N, L]`. */
  probabilities: Float64Array;
  /** 0 or 1, shape `[N, L]`. */
  targets: ArrayLike<number>;
  /** L. */
  labels: number;
  /** Shape `[N, L]`; absent: all labels of all samples count alike. */
  weights?: Weights;
}

/**
 * Share of all labels of all samples that the prediction has right; a label is predicted from a probability above 1/2.
 */
export function labelAccuracy({ probabilities, targets, weights }: LabelProbabilities): number {
  return weightedMean(
    probabilities.map((p, index) => rightOrNaN(p, targets[index])),
    weights,
  );
}

/** Share of samples with all labels right that count. A sample's weight is the largest of its labels'. */
export function exactMatch({ probabilities, targets, labels, weights }: LabelProbabilities): number {
  const samples = probabilities.length / labels;
  const ofSamples = weights && new Float64Array(samples);
  const rows = Float64Array.from({ length: samples }, (_, sample) => {
    let right = 1;
    for (let index = sample * labels; index < (sample + 1) * labels; index++) {
      const weight = weights?.[index] ?? 1;
      if (ofSamples) ofSamples[sample] = Math.max(ofSamples[sample], weight);
      if (weight !== 0) right *= rightOrNaN(probabilities[index], targets[index]);
    }
    return right;
  });
  return weightedMean(rows, ofSamples);
}

/** Mean over samples and labels of (p - y)². */
export function labelBrier({ probabilities, targets, weights }: LabelProbabilities): number {
  return weightedMean(
    probabilities.map((p, index) => (p - targets[index]) ** 2),
    weights,
  );
}

/** F1 of each label, averaged over the labels that samples have or get (macro). */
export function macroLabelF1(given: LabelProbabilities): number {
  return meanOfDefined(given, f1OfLabels(given));
}

/** F1 of each label, shape `[L]`; NaN for a label that no sample has or gets. */
export function f1OfLabels(given: LabelProbabilities): number[] {
  return eachLabel(given.labels, (label) => f1(given, (index) => index % given.labels === label));
}

/** F1 of all labels together (micro). */
export function microLabelF1(given: LabelProbabilities): number {
  return areCountedFinite(given.probabilities, given.weights) ? f1(given, () => true) : NaN;
}

/**
 * Area under the ROC curve of each label, averaged over the labels that some samples have and others do not (macro).
 */
export function labelAuroc(given: LabelProbabilities): number {
  return meanOfDefined(given, aurocOfLabels(given));
}

/** Area under the ROC curve of each label, shape `[L]`; NaN for a label that all samples have or none has. */
export function aurocOfLabels(given: LabelProbabilities): number[] {
  return rankingOfLabels(given, areaUnderRoc);
}

/** Average precision of each label, averaged over the labels that samples have (macro). */
export function labelAveragePrecision(given: LabelProbabilities): number {
  return meanOfDefined(given, averagePrecisionOfLabels(given));
}

/** Average precision of each label, shape `[L]`; NaN for a label that no sample has. */
export function averagePrecisionOfLabels(given: LabelProbabilities): number[] {
  return rankingOfLabels(given, averagePrecision);
}

function rankingOfLabels(given: LabelProbabilities, score: typeof areaUnderRoc): number[] {
  const { probabilities, targets, labels, weights } = given;
  return eachLabel(labels, (label) => {
    const isOwn = (_: number, index: number): boolean => index % labels === label;
    const isPositive = (sample: number): boolean => targets[sample * labels + label] === 1;
    return score(probabilities.filter(isOwn), isPositive, weights?.filter(isOwn));
  });
}

function meanOfDefined({ probabilities, weights }: LabelProbabilities, scores: readonly number[]): number {
  if (!areCountedFinite(probabilities, weights)) return NaN;
  return mean(scores.filter((score) => !Number.isNaN(score)));
}

function f1({ probabilities, targets, weights }: LabelProbabilities, isCounted: (index: number) => boolean): number {
  let [hits, uses] = [0, 0];
  probabilities.forEach((p, index) => {
    const weight = weights?.[index] ?? 1;
    if (!isCounted(index) || weight === 0) return;
    const predicted = p > 0.5 ? 1 : 0;
    hits += weight * predicted * targets[index];
    uses += weight * (predicted + targets[index]);
  });
  return (2 * hits) / uses;
}

function eachLabel(labels: number, score: (label: number) => number): number[] {
  return Array.from({ length: labels }, (_, label) => score(label));
}

function rightOrNaN(probability: number, target: number): number {
  if (!Number.isFinite(probability)) return NaN;
  return (probability > 0.5 ? 1 : 0) === target ? 1 : 0;
}
