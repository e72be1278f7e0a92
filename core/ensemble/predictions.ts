import {
  entropy,
  meanProbabilities,
  memberProbabilities,
  probabilitiesOf,
  productOfExperts,
  stackedClasses,
} from '../metrics/index.ts';
import type { Probabilities, StackedClasses } from '../metrics/index.ts';
import type { TargetMeaning } from '../preprocessing/schema.ts';
import type { EnsembleDescription } from './schema.ts';

/**
 * Predictions of an ensemble for N samples, from the outputs of its M members. Arrays are row-major. Entropies are in nats.
 */

/** Outputs of the members, one array `[M, N, W]` for each output of a model. */
export interface MemberOutputStack {
  kind: 'logits' | 'label-logits' | 'probabilities' | 'values';
  /** M. */
  members: number;
  /** N. */
  samples: number;
  /** W. */
  width: number;
  values: readonly Float32Array[];
}

interface Predicted {
  /** M. */
  memberCount: number;
  /** N. */
  samples: number;
  /** Classes, labels, targets or quantiles of a sample: K. */
  width: number;
  /** What members predict: probabilities, means, rates or quantiles; shape `[M, N, K]`. */
  members: Float32Array;
  /** What the ensemble predicts of it, shape `[N, K]`. */
  mean: Float64Array;
}

/** One of K classes (tasks classification, binary, ordinal). */
export interface ClassPredictions extends Predicted {
  kind: 'classes';
  /** The most probable class, shape `[N]`. */
  labels: Int32Array;
  /** Total uncertainty, the entropy of the ensemble's probabilities, shape `[N]`. */
  entropy: Float64Array;
  /** Epistemic uncertainty: the entropy of the mean of the members' probabilities minus the mean of their entropies, shape `[N]`. */
  mutualInformation: Float64Array;
}

/** Any of K labels, each with its probability (task multi-label). */
export interface LabelPredictions extends Predicted {
  kind: 'labels';
  /** The same for each label, shape `[N, K]`. */
  entropy: Float64Array;
  mutualInformation: Float64Array;
}

/** K numbers, in the unit of the targets (tasks regression, heteroscedastic-regression, poisson-regression). */
export interface ValuePredictions extends Predicted {
  kind: 'values';
  /** The members' variances, shape `[M, N, K]`; null where they predict none. */
  memberVariances: Float32Array | null;
  /** Standard deviation of the data, √(1/M Σ_m σ²_m), shape `[N, K]`; null where members predict none. A count's variance is its rate. */
  aleatoric: Float64Array | null;
  /** Standard deviation of the members' means, √(1/M Σ_m (μ_m − μ)²), shape `[N, K]`. */
  epistemic: Float64Array;
  /** Standard deviation of the mixture: the root of the sum of the squares of both, shape `[N, K]`. */
  standardDeviation: Float64Array;
}

/** K quantiles of one number (task quantile-regression). The ensemble's are the means of the members'. */
export interface QuantilePredictions extends Predicted {
  kind: 'quantiles';
  /** Standard deviation of the members' quantiles, shape `[N, K]`. */
  epistemic: Float64Array;
}

export type EnsemblePredictions = ClassPredictions | LabelPredictions | ValuePredictions | QuantilePredictions;

/** What of an ensemble decides how its members' outputs are combined. */
export type Combining = Pick<EnsembleDescription, 'task' | 'combination'> & {
  /** Brings values back to the targets' own unit. */
  target?: TargetMeaning | undefined;
};

/** Combines the members' outputs as the task says. */
export function combineMembers(
  stack: MemberOutputStack,
  { task, combination, target }: Combining,
): EnsemblePredictions {
  switch (task) {
    case 'classification':
    case 'binary':
    case 'ordinal':
      return combineClasses(stack, combination);
    case 'multi-label':
      return combineLabels(stack);
    case 'quantile-regression':
      return combineQuantiles(inOwnUnit(stack, target));
    case 'poisson-regression':
      return combineCounts(stack);
    case 'regression':
    case 'heteroscedastic-regression':
      return combineValues(inOwnUnit(stack, target));
  }
}

function combineClasses(stack: MemberOutputStack, combination: Combining['combination']): ClassPredictions {
  const { members: memberCount, samples } = stack;
  const kind = stack.kind === 'logits' ? 'logits' : 'probabilities';
  const given = stackedClasses({ ...stack, kind, values: stack.values[0] });
  const width = given.classes;
  const members = probabilityStack(given);
  const probabilities = { members: memberCount, samples, classes: width, values: members };
  const mean = meanProbabilities(probabilities);
  const ensemble = combination === 'product' ? productOfExperts(given) : mean;
  const total = entropy(ensemble);
  const ofMean = combination === 'product' ? entropy(mean) : total;
  return {
    kind: 'classes',
    memberCount,
    samples,
    width,
    members,
    mean: Float64Array.from(ensemble.values),
    labels: mostProbable(ensemble),
    entropy: total,
    mutualInformation: informationOf(ofMean, members, memberCount, (values) =>
      entropy({ samples, classes: width, values }),
    ),
  };
}

function probabilityStack(given: StackedClasses): Float32Array {
  if ('values' in given) return given.values;
  const all = new Float32Array(given.logits.length);
  const size = all.length / given.members;
  for (let member = 0; member < given.members; member++) {
    all.set(memberProbabilities(given, member).values, member * size);
  }
  return all;
}

function mostProbable({ samples, classes, values }: Probabilities): Int32Array {
  return Int32Array.from({ length: samples }, (_, sample) => {
    let best = 0;
    for (let k = 1; k < classes; k++) if (values[sample * classes + k] > values[sample * classes + best]) best = k;
    return best;
  });
}

/** max(0, total − 1/M Σ_m entropy_m). */
function informationOf(
  total: Float64Array,
  members: Float32Array,
  count: number,
  entropyOf: (values: Float32Array) => Float64Array,
): Float64Array {
  const expected = new Float64Array(total.length);
  const size = members.length / count;
  for (let member = 0; member < count; member++) {
    entropyOf(members.subarray(member * size, (member + 1) * size)).forEach(
      (value, i) => (expected[i] += value / count),
    );
  }
  return total.map((value, i) => Math.max(0, value - expected[i]));
}

function combineLabels({ kind, members: memberCount, samples, width, values }: MemberOutputStack): LabelPredictions {
  const members = kind === 'label-logits' ? probabilitiesOf(values[0], 1) : values[0];
  const mean = meanOf(members, memberCount);
  const total = mean.map(binaryEntropy);
  return {
    kind: 'labels',
    memberCount,
    samples,
    width,
    members,
    mean,
    entropy: total,
    mutualInformation: informationOf(total, members, memberCount, (own) => Float64Array.from(own, binaryEntropy)),
  };
}

/** −p log p − (1 − p) log(1 − p), with 0 log 0 = 0. */
function binaryEntropy(probability: number): number {
  const part = (p: number) => (p === 0 ? 0 : p * Math.log(p));
  return 0 - part(probability) - part(1 - probability);
}

function combineValues({ members: memberCount, samples, width, values }: MemberOutputStack): ValuePredictions {
  const [means] = values;
  const variances = values.length > 1 ? values[1] : null;
  const about = { memberCount, samples, width, members: means, memberVariances: variances };
  return valuesWith(about, variances === null ? null : meanOf(variances, memberCount));
}

function combineCounts({ members: memberCount, samples, width, values }: MemberOutputStack): ValuePredictions {
  const about = { memberCount, samples, width, members: values[0], memberVariances: null };
  return valuesWith(about, meanOf(values[0], memberCount));
}

/** @param variance of the data, shape `[N, K]` */
function valuesWith(
  about: Pick<ValuePredictions, 'memberCount' | 'samples' | 'width' | 'members' | 'memberVariances'>,
  variance: Float64Array | null,
): ValuePredictions {
  const mean = meanOf(about.members, about.memberCount);
  const epistemic = deviationOf(about.members, about.memberCount, mean);
  return {
    kind: 'values',
    ...about,
    mean,
    aleatoric: variance?.map(Math.sqrt) ?? null,
    epistemic,
    standardDeviation: epistemic.map((own, i) => Math.sqrt(own * own + (variance?.[i] ?? 0))),
  };
}

function combineQuantiles({ members: memberCount, samples, width, values }: MemberOutputStack): QuantilePredictions {
  const [members] = values;
  const mean = meanOf(members, memberCount);
  const epistemic = deviationOf(members, memberCount, mean);
  return { kind: 'quantiles', memberCount, samples, width, members, mean, epistemic };
}

/** mean + std · value for means and quantiles, std² · value for variances; K quantiles have one target's unit. */
function inOwnUnit(stack: MemberOutputStack, target: TargetMeaning | undefined): MemberOutputStack {
  if (target?.kind !== 'values') return stack;
  const { mean, std } = target;
  if (mean.every((value) => value === 0) && std.every((value) => value === 1)) return stack;
  const column = (i: number) => (i % stack.width) % mean.length;
  const values = stack.values.map((output, index) =>
    index === 0
      ? output.map((value, i) => mean[column(i)] + std[column(i)] * value)
      : output.map((value, i) => std[column(i)] ** 2 * value),
  );
  return { ...stack, values };
}

/** Mean over the members, `[M, ...]` to `[...]`. */
function meanOf(values: Float32Array, members: number): Float64Array {
  const mean = new Float64Array(values.length / members);
  for (let i = 0; i < values.length; i++) mean[i % mean.length] += values[i];
  for (let i = 0; i < mean.length; i++) mean[i] /= members;
  return mean;
}

/** Standard deviation over the members, divided by M. */
function deviationOf(values: Float32Array, members: number, mean: Float64Array): Float64Array {
  const squares = new Float64Array(mean.length);
  for (let i = 0; i < values.length; i++) squares[i % mean.length] += (values[i] - mean[i % mean.length]) ** 2;
  return squares.map((sum) => Math.sqrt(sum / members));
}
