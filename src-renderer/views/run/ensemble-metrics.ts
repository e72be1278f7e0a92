import type { PredictionData } from '../../../protocol/rpc.ts';
import type { ReliabilityBin } from '../../charts/types.ts';

/**
 * Classification metrics of kept predictions, for the pictures of an ensemble. The formulas are those of `workers/metrics`, which a
 * page may not import. Legend: `M` members, `N` samples, `K` classes. All sums are float64; values are nats where not said.
 */

/** Keeps log finite for a probability of 0; the value of torch-distributed-ensemble. */
const EPSILON = 1e-8;

/** As Guo et al. (2017). */
const BINS = 15;

/** Class probabilities of M members, `[M, N, K]`, with class indices `[N]`. */
export interface ClassStack {
  ranks: number[];
  samples: number;
  classes: number;
  values: Float32Array;
  targets: Int32Array;
}

/** Class probabilities of one model, or of the ensemble as one, `[N, K]`. */
export type Probabilities = Float32Array | Float64Array;

/** What classifiers predicted; the one probability p(y = 1) of a binary task becomes the two classes [1 - p, p]. */
export function classStack({ ranks, samples, width, outputs, targets }: PredictionData): ClassStack {
  const [probabilities] = outputs;
  return {
    ranks,
    samples,
    classes: Math.max(width, 2),
    values: width === 1 ? toTwoClasses(probabilities) : probabilities,
    targets: Int32Array.from(targets),
  };
}

/** The probabilities of one member, `[N, K]`: a view, not a copy. */
export function memberProbabilities({ samples, classes, values }: ClassStack, member: number): Float32Array {
  return values.subarray(member * samples * classes, (member + 1) * samples * classes);
}

/**
 * The mean over members of what each predicts: `[M, ...]` to `[...]`.
 *
 * @param without a member to leave out
 */
export function meanOverMembers(values: Float32Array, members: number, without: number | null = null): Float64Array {
  const mean = new Float64Array(values.length / members);
  for (let member = 0; member < members; member++) {
    if (member === without) continue;
    const start = member * mean.length;
    for (let index = 0; index < mean.length; index++) mean[index] += values[start + index];
  }
  const count = without === null ? members : members - 1;
  return mean.map((sum) => sum / count);
}

/** The ensemble's prediction, the mean of the members' probabilities, `[N, K]`. */
export function ensembleProbabilities({ values, ranks }: ClassStack): Float64Array {
  return meanOverMembers(values, ranks.length);
}

/** Negative log-likelihood, -1/N sum_n log(p[n, y_n] + 1e-8). */
export function negativeLogLikelihood(probabilities: Probabilities, { classes, targets }: ClassStack): number {
  let sum = 0;
  targets.forEach((target, sample) => {
    sum -= Math.log(probabilities[sample * classes + target] + EPSILON);
  });
  return sum / targets.length;
}

/** Index of the most probable class of every sample, `[N]`; the first wins a tie. */
export function mostProbableClass(probabilities: Probabilities, classes: number): Int32Array {
  return new Int32Array(probabilities.length / classes).map((_, sample) => {
    const start = sample * classes;
    let best = start;
    for (let index = start + 1; index < start + classes; index++) {
      if (probabilities[index] > probabilities[best]) best = index;
    }
    return best - start;
  });
}

/**
 * The 15 bins of a reliability diagram, of equal width, (lower, upper]; a confidence of 0 belongs to the first.
 *
 * Source: Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", ICML 2017.
 */
export function reliabilityBins(probabilities: Probabilities, { classes, targets }: ClassStack): ReliabilityBin[] {
  const counts = new Int32Array(BINS);
  const confidences = new Float64Array(BINS);
  const hits = new Int32Array(BINS);
  mostProbableClass(probabilities, classes).forEach((chosen, sample) => {
    const confidence = probabilities[sample * classes + chosen];
    const bin = Math.min(Math.max(Math.ceil(confidence * BINS) - 1, 0), BINS - 1);
    counts[bin] += 1;
    confidences[bin] += confidence;
    if (chosen === targets[sample]) hits[bin] += 1;
  });
  return Array.from(counts, (count, bin) => ({
    lower: bin / BINS,
    upper: (bin + 1) / BINS,
    count,
    confidence: confidences[bin] / count,
    accuracy: hits[bin] / count,
  }));
}

/** Expected calibration error, sum_b count_b / N |accuracy_b - confidence_b| (Guo et al., 2017, equation 3): from 0 to 1. */
export function expectedCalibrationError(bins: readonly ReliabilityBin[]): number {
  const samples = bins.reduce((sum, { count }) => sum + count, 0);
  return bins
    .filter(({ count }) => count > 0)
    .reduce((sum, { count, accuracy, confidence }) => sum + (count / samples) * Math.abs(accuracy - confidence), 0);
}

/** Shannon entropy of every sample, -sum_k p log p with 0 log 0 = 0, `[N]`. Of the mean prediction: total uncertainty. */
export function entropy(probabilities: Probabilities, classes: number): Float64Array {
  return new Float64Array(probabilities.length / classes).map((_, sample) => {
    let sum = 0;
    for (let index = sample * classes; index < (sample + 1) * classes; index++) {
      if (probabilities[index] !== 0) sum -= probabilities[index] * Math.log(probabilities[index]);
    }
    return sum;
  });
}

/**
 * The model's share of the uncertainty: entropy of the mean prediction - mean entropy of the members', `[N]`. Never negative
 * (Jensen), so rounding below 0 is cut.
 *
 * Source: Gal, "Uncertainty in deep learning", PhD thesis, Cambridge 2016, section 3.3.1.
 */
export function mutualInformation(stack: ClassStack): Float64Array {
  const members = stack.ranks.map((_, member) => entropy(memberProbabilities(stack, member), stack.classes));
  return entropy(ensembleProbabilities(stack), stack.classes).map((total, sample) => {
    const expected = members.reduce((sum, values) => sum + values[sample], 0) / members.length;
    return Math.max(0, total - expected);
  });
}

/** Share of samples on which two members choose different classes, `[M, M]`: symmetric, with 0 on the diagonal. */
export function pairwiseDisagreement(stack: ClassStack): Float64Array {
  const chosen = stack.ranks.map((_, member) => mostProbableClass(memberProbabilities(stack, member), stack.classes));
  const shares = chosen.flatMap((left) =>
    chosen.map((right) => left.filter((label, sample) => label !== right[sample]).length / stack.samples),
  );
  return Float64Array.from(shares);
}

/**
 * What each member is worth to the others: the ensemble's NLL without it - the ensemble's NLL, `[M]`. Above 0 it helps; empty for a
 * single member, without which there is no ensemble.
 */
export function marginalNll(stack: ClassStack): number[] {
  const members = stack.ranks.length;
  if (members === 1) return [];
  const complete = negativeLogLikelihood(ensembleProbabilities(stack), stack);
  return stack.ranks.map(
    (_, member) => negativeLogLikelihood(meanOverMembers(stack.values, members, member), stack) - complete,
  );
}

function toTwoClasses(positive: Float32Array): Float32Array {
  const values = new Float32Array(2 * positive.length);
  positive.forEach((probability, index) => {
    values[2 * index] = 1 - probability;
    values[2 * index + 1] = probability;
  });
  return values;
}
