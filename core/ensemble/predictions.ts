import {
  entropy,
  logitsOf,
  meanProbabilities,
  memberProbabilities,
  probabilitiesOf,
  productOfExperts,
  stackedClasses,
} from '../metrics/index.ts';
import type { Probabilities, StackedClasses } from '../metrics/index.ts';
import { calibratedMembers } from '../postprocessing/calibration/apply-calibration.ts';
import {
  applyToClasses,
  applyToLabels,
  applyToValues,
  type Fitted,
  type ValueAnswers,
} from '../postprocessing/apply.ts';
import type { TargetMeaning } from '../preprocessing/schema.ts';
import { binaryEntropy, deviationOf, endsInOwnUnit, informationOf, inOwnUnit, meanOf } from './arithmetic.ts';
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
  /** Positions of a sample, each of which counts as one of N; 1 by default. */
  positions?: number;
  /** W. */
  width: number;
  values: readonly Float32Array[];
  /** Distances to the training samples, shape `[N]`, where what was fitted needs them. */
  distances?: Float64Array;
  /** The same for further outputs of the models, by name. */
  further?: Readonly<Record<string, MemberOutputStack>>;
}

interface Predicted {
  /** Positions of a sample, such as the steps of a sequence, each of which counts as one of N; else 1. */
  positions: number;
  /** M. */
  memberCount: number;
  /** N. */
  samples: number;
  /** Classes, labels, targets or quantiles of a sample: K. */
  width: number;
  /** What members predict: probabilities (with a temperature before averaging), means, rates or quantiles; shape `[M, N, K]`. */
  members: Float32Array;
  /** What the ensemble predicts of it, shape `[N, K]`; probabilities are calibrated where a calibration was fitted. */
  mean: Float64Array;
  /** What thresholds say that were fitted (`tutti calibrate`); null if none were. */
  judgement: Judgement | null;
  /** Predictions of further outputs of the models, by name, without calibration. */
  further: Readonly<Record<string, EnsemblePredictions>>;
}

/** Shape `[N]` each. */
export interface Judgement {
  /** How unlike the training data a sample is; null without a threshold for it. */
  outsideScores: Float64Array | null;
  /** 1 where a sample is outside the training data: its score is above the threshold. */
  isOutside: Uint8Array | null;
  /** 1 where the confidence is too low for the wished risk. */
  isWithheld: Uint8Array | null;
}

/** Ends of conformal intervals. */
interface Intervals {
  lower: Float64Array;
  upper: Float64Array;
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
  /** Conformal sets: 1 where a class is in a sample's set, shape `[N, K]`; null if none were fitted. */
  sets: Uint8Array | null;
}

/** Any of K labels, each with its probability (task multi-label). */
export interface LabelPredictions extends Predicted {
  kind: 'labels';
  /** The same for each label, shape `[N, K]`. */
  entropy: Float64Array;
  mutualInformation: Float64Array;
  /** Conformal sets: 1 where a sample may have a label, shape `[N, K]`; null if none were fitted. */
  sets: Uint8Array | null;
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
  /** Standard deviation of the mixture: the root of the sum of the squares of both, times the scale that was fitted, shape `[N, K]`. */
  standardDeviation: Float64Array;
  /** Shape `[N, K]`; null if none were fitted. */
  intervals: Intervals | null;
}

/** K quantiles of one number (task quantile-regression). The ensemble's are the means of the members'. */
export interface QuantilePredictions extends Predicted {
  kind: 'quantiles';
  /** Standard deviation of the members' quantiles, shape `[N, K]`. */
  epistemic: Float64Array;
  /** Shape `[N]`; null if none were fitted. */
  intervals: Intervals | null;
}

export type EnsemblePredictions = ClassPredictions | LabelPredictions | ValuePredictions | QuantilePredictions;

/** What of an ensemble decides how its members' outputs are combined. */
export type Combining = Pick<EnsembleDescription, 'task' | 'combination'> & {
  /** Brings values back to the targets' own unit. */
  target?: TargetMeaning | undefined;
  /** What was fitted on held-out predictions of the same members. */
  postprocessing?: Fitted | null;
  /** Further outputs of the models; those that the stack lacks are left out. */
  outputs?: EnsembleDescription['outputs'];
};

type Combined<P extends EnsemblePredictions> = Omit<P, 'positions' | 'further'>;

/** Combines the members' outputs as the task says. */
export function combineMembers(stack: MemberOutputStack, combining: Combining): EnsemblePredictions {
  const further = (combining.outputs ?? []).flatMap(({ name, task }): [string, EnsemblePredictions][] => {
    const own = stack.further?.[name];
    return own === undefined ? [] : [[name, combineMembers(own, { task, combination: 'mean' })]];
  });
  return {
    ...combineAs(stack, combining),
    positions: stack.positions ?? 1,
    further: Object.fromEntries(further),
  };
}

function combineAs(stack: MemberOutputStack, combining: Combining) {
  switch (combining.task) {
    case 'classification':
    case 'binary':
    case 'ordinal':
      return combineClasses(stack, combining);
    case 'multi-label':
      return combineLabels(stack, combining);
    case 'quantile-regression':
      return combineQuantiles(stack, combining);
    case 'poisson-regression':
    case 'regression':
    case 'heteroscedastic-regression':
      return combineValues(stack, combining);
  }
}

function combineClasses(
  stack: MemberOutputStack,
  { combination, postprocessing = null }: Combining,
): Combined<ClassPredictions> {
  const { members: memberCount, samples } = stack;
  const kind = stack.kind === 'logits' ? 'logits' : 'probabilities';
  const given = stackedClasses({ ...stack, kind, values: stack.values[0] });
  const width = given.classes;
  const calibration = postprocessing?.calibration ?? null;
  // Temperatures before averaging belong to the members, which then are what the ensemble is the mean of.
  const members = probabilityStack(
    calibration?.method === 'temperature' ? calibratedMembers(calibration, given) : given,
  );
  const mean = meanProbabilities({ members: memberCount, samples, classes: width, values: members });
  const answers = postprocessing === null ? null : applyToClasses(postprocessing, given, stack.distances);
  const plain = combination === 'product' ? productOfExperts(given) : mean;
  const ensemble = calibration !== null && answers !== null ? answers.probabilities : plain;
  const entropyOf = (values: Float32Array) => entropy({ samples, classes: width, values });
  return {
    kind: 'classes',
    memberCount,
    samples,
    width,
    members,
    mean: Float64Array.from(ensemble.values),
    labels: mostProbable(ensemble),
    entropy: entropy(ensemble),
    mutualInformation: informationOf(entropy(mean), members, memberCount, entropyOf),
    sets: answers?.sets ?? null,
    judgement: answers,
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

function combineLabels(
  { kind, members: memberCount, samples, width, values: [given], distances }: MemberOutputStack,
  { postprocessing = null }: Combining,
): Combined<LabelPredictions> {
  const members = kind === 'label-logits' ? probabilitiesOf(given, 1) : given;
  const logits = kind === 'label-logits' ? given : logitsOf(given, 1);
  const stack = { members: memberCount, samples, classes: width, logits };
  const answers = postprocessing === null ? null : applyToLabels(postprocessing, stack, distances);
  const plain = meanOf(members, memberCount);
  const mean = postprocessing?.calibration && answers !== null ? answers.probabilities : plain;
  const total = plain.map(binaryEntropy);
  return {
    kind: 'labels',
    memberCount,
    samples,
    width,
    members,
    mean,
    entropy: mean.map(binaryEntropy),
    sets: answers?.sets ?? null,
    judgement: answers,
    mutualInformation: informationOf(total, members, memberCount, (own) => Float64Array.from(own, binaryEntropy)),
  };
}

function combineValues(
  stack: MemberOutputStack,
  { task, target, postprocessing = null }: Combining,
): Combined<ValuePredictions> {
  const isCount = task === 'poisson-regression';
  // The variance of a count is its rate.
  const counts = isCount ? { ...stack, values: [stack.values[0], stack.values[0]] } : stack;
  const answers = answersFor(counts, postprocessing);
  const { members: memberCount, samples, width, values } = isCount ? stack : inOwnUnit(stack, target);
  const [members] = values;
  const memberVariances = values.length > 1 ? values[1] : null;
  const mean = meanOf(members, memberCount);
  const variance = isCount ? mean : memberVariances && meanOf(memberVariances, memberCount);
  const epistemic = deviationOf(members, memberCount, mean);
  const scales = postprocessing?.calibration?.method === 'sigma' ? postprocessing.calibration.scales : [1];
  return {
    kind: 'values',
    memberCount,
    samples,
    width,
    members,
    memberVariances,
    mean,
    aleatoric: variance?.map(Math.sqrt) ?? null,
    epistemic,
    standardDeviation: epistemic.map(
      (own, i) => scales[i % scales.length] * Math.sqrt(own * own + (variance?.[i] ?? 0)),
    ),
    intervals: isCount ? fromZero(answers?.intervals ?? null) : intervalsOf(answers, target),
    judgement: answers,
  };
}

/** Counts are not negative. */
function fromZero(intervals: Intervals | null): Intervals | null {
  return intervals && { ...intervals, lower: intervals.lower.map((value) => Math.max(0, value)) };
}

function combineQuantiles(
  stack: MemberOutputStack,
  { target, postprocessing = null }: Combining,
): Combined<QuantilePredictions> {
  const answers = answersFor(stack, postprocessing);
  const { members: memberCount, samples, width, values } = inOwnUnit(stack, target);
  const [members] = values;
  const mean = meanOf(members, memberCount);
  const epistemic = deviationOf(members, memberCount, mean);
  const intervals = intervalsOf(answers, target);
  return { kind: 'quantiles', memberCount, samples, width, members, mean, epistemic, intervals, judgement: answers };
}

/** Post-processing was fitted in the unit in which the models were trained. */
function answersFor(stack: MemberOutputStack, fitted: Fitted | null): ValueAnswers | null {
  if (fitted === null) return null;
  const [means, variances = null] = stack.values.map((values) => ({
    members: stack.members,
    samples: stack.samples * stack.width,
    values,
  }));
  return applyToValues(fitted, means, variances, stack.width, stack.distances);
}

function intervalsOf(answers: ValueAnswers | null, target: TargetMeaning | undefined): Intervals | null {
  if (!answers?.intervals) return null;
  const { lower, upper } = answers.intervals;
  return { lower: endsInOwnUnit(lower, target), upper: endsInOwnUnit(upper, target) };
}
