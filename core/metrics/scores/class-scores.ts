import { checkClassification } from '../checks.ts';
import { mostProbableClass } from '../classification.ts';
import { mean } from '../predictions.ts';
import type { Probabilities } from '../stacks.ts';
import { weightedMean, type Weights } from '../weights.ts';
import { areaUnderRoc, averagePrecision } from './ranking.ts';

/**
 * Scores of classifiers beside those of `classification.ts`. Arguments and errors are the same; weights have shape
 * `[N]`.
 */

/**
 * Area under the ROC curve of each class against all others, averaged over the classes that have both samples and
 * others (macro). With two classes it is that of class 1. NaN if there is no such class.
 */
export function auroc(probabilities: Probabilities, targets: Int32Array, weights?: Weights): number {
  return meanOverClasses(probabilities, targets, areaUnderRoc, weights);
}

/**
 * Average precision of each class against all others, averaged over the classes that have samples; with two classes
 * that of class 1.
 */
export function meanAveragePrecision(probabilities: Probabilities, targets: Int32Array, weights?: Weights): number {
  return meanOverClasses(probabilities, targets, averagePrecision, weights);
}

/**
 * F1 of each class, 2 TP / (2 TP + FP + FN), averaged over the classes that are a target or are chosen (macro, as in
 * scikit-learn).
 */
export function macroF1(probabilities: Probabilities, targets: Int32Array, weights?: Weights): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  const hits = new Float64Array(probabilities.classes);
  /** TP + FP, plus TP + FN. */
  const uses = new Float64Array(probabilities.classes);
  mostProbableClass(probabilities).forEach((chosen, sample) => {
    const weight = weights?.[sample] ?? 1;
    uses[chosen] += weight;
    uses[targets[sample]] += weight;
    if (chosen === targets[sample]) hits[chosen] += weight;
  });
  return mean([...uses].flatMap((count, label) => (count === 0 ? [] : (2 * hits[label]) / count)));
}

/**
 * Share of samples whose target is among the `count` most probable classes. Of equally probable classes the first come
 * first.
 */
export function topAccuracy(
  probabilities: Probabilities,
  targets: Int32Array,
  count: number,
  weights?: Weights,
): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  const { classes, values } = probabilities;
  const hitOf = (target: number, sample: number): number => {
    const start = sample * classes;
    let before = 0;
    for (let label = 0; label < classes; label++) {
      const [other, own] = [values[start + label], values[start + target]];
      if (other > own || (other === own && label < target)) before += 1;
    }
    return before < count ? 1 : 0;
  };
  return weightedMean(targets.map(hitOf), weights);
}

function meanOverClasses(
  probabilities: Probabilities,
  targets: Int32Array,
  score: typeof areaUnderRoc,
  weights?: Weights,
): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  const { classes, samples, values } = probabilities;
  const labels = classes === 2 ? [1] : Array.from({ length: classes }, (_, label) => label);
  const scores = labels.map((label) => {
    const column = Float64Array.from({ length: samples }, (_, sample) => values[sample * classes + label]);
    return score(column, (sample) => targets[sample] === label, weights);
  });
  return mean(scores.filter((value) => !Number.isNaN(value)));
}

/** Scores of ordered classes. Arguments and errors are those of `classification.ts`; weights have shape `[N]`. */

/** Mean distance between the most probable class and the target, 1/N sum_n |argmax p_n - y_n|. */
export function classDistance(probabilities: Probabilities, targets: Int32Array, weights?: Weights): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  return weightedMean(
    mostProbableClass(probabilities).map((chosen, sample) => Math.abs(chosen - targets[sample])),
    weights,
  );
}

/**
 * Quadratic weighted kappa, 1 - sum_n (c_n - y_n)² / (1/N sum_n sum_n' (c_n - y_n')²), c_n the most probable class: 1
 * if all are right, 0 for guesses of the same distribution. NaN if all targets and choices are one class.
 *
 * Source: Cohen, "Weighted kappa: nominal scale agreement provision for scaled disagreement or partial credit", 1968.
 */
export function quadraticKappa(probabilities: Probabilities, targets: Int32Array, weights?: Weights): number {
  if (!checkClassification(probabilities, targets)) return NaN;
  const chosen = mostProbableClass(probabilities);
  const meanOf = (values: Int32Array): number => weightedMean(values, weights);
  const found = meanOf(chosen.map((label, sample) => (label - targets[sample]) ** 2));
  // The mean of (c - y)² over all pairs.
  const squares = meanOf(chosen.map((label) => label ** 2)) + meanOf(targets.map((label) => label ** 2));
  const expected = squares - 2 * meanOf(chosen) * meanOf(targets);
  return expected === 0 ? NaN : 1 - found / expected;
}
