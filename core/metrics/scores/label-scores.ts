import { mean } from '../predictions.ts';
import { areaUnderRoc, averagePrecision } from './ranking.ts';

/** Predicted probabilities of L labels, which a sample may have in any combination. */
export interface LabelProbabilities {
  /** Shape `[N, L]`. */
  probabilities: Float64Array;
  /** 0 or 1, shape `[N, L]`. */
  targets: ArrayLike<number>;
  /** L. */
  labels: number;
}

/** Share of all labels of all samples that the prediction has right; a label is predicted from a probability above 1/2. */
export function labelAccuracy({ probabilities, targets }: LabelProbabilities): number {
  return mean(probabilities.map((p, index) => rightOrNaN(p, targets[index])));
}

/** Share of samples with all labels right. */
export function exactMatch({ probabilities, targets, labels }: LabelProbabilities): number {
  const rows = Float64Array.from({ length: probabilities.length / labels }, (_, sample) => {
    let right = 1;
    for (let index = sample * labels; index < (sample + 1) * labels; index++) {
      right *= rightOrNaN(probabilities[index], targets[index]);
    }
    return right;
  });
  return mean(rows);
}

/** Mean over samples and labels of (p - y)². */
export function labelBrier({ probabilities, targets }: LabelProbabilities): number {
  return mean(probabilities.map((p, index) => (p - targets[index]) ** 2));
}

/** F1 of each label, averaged over the labels that samples have or get (macro). */
export function macroLabelF1(given: LabelProbabilities): number {
  if (!given.probabilities.every(Number.isFinite)) return NaN;
  const scores = eachLabel(given.labels, (label) => f1(given, (index) => index % given.labels === label));
  return mean(scores.filter((score) => !Number.isNaN(score)));
}

/** F1 of all labels together (micro). */
export function microLabelF1(given: LabelProbabilities): number {
  return given.probabilities.every(Number.isFinite) ? f1(given, () => true) : NaN;
}

/** Area under the ROC curve of each label, averaged over the labels that some samples have and others do not (macro). */
export function labelAuroc(given: LabelProbabilities): number {
  return meanOverLabels(given, areaUnderRoc);
}

/** Average precision of each label, averaged over the labels that samples have (macro). */
export function labelAveragePrecision(given: LabelProbabilities): number {
  return meanOverLabels(given, averagePrecision);
}

function meanOverLabels({ probabilities, targets, labels }: LabelProbabilities, score: typeof areaUnderRoc): number {
  if (!probabilities.every(Number.isFinite)) return NaN;
  const scores = eachLabel(labels, (label) => {
    const column = probabilities.filter((_, index) => index % labels === label);
    return score(column, (sample) => targets[sample * labels + label] === 1);
  });
  return mean(scores.filter((value) => !Number.isNaN(value)));
}

function f1({ probabilities, targets }: LabelProbabilities, isCounted: (index: number) => boolean): number {
  let [hits, uses] = [0, 0];
  probabilities.forEach((p, index) => {
    if (!isCounted(index)) return;
    const predicted = p > 0.5 ? 1 : 0;
    hits += predicted * targets[index];
    uses += predicted + targets[index];
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
