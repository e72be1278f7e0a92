import {
  entropy,
  logitsOf,
  meanProbabilities,
  memberProbabilities,
  probabilitiesOf,
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
import { sigmoid } from '../postprocessing/label-answers.ts';
import type { TargetMeaning } from '../preprocessing/schema.ts';
import { answeredProbabilities, answeredValues, answersBy, meanLogits } from '../metrics/combination.ts';
import { binaryEntropy, deviationOf, informationOf, meanOf, type OwnUnit, ownUnit } from './arithmetic.ts';
import type { EnsembleDescription } from './schema.ts';
import type {
  ClassPredictions,
  EnsemblePredictions,
  Intervals,
  LabelPredictions,
  MemberOutputStack,
  QuantilePredictions,
  ValuePredictions,
} from './predictions.ts';

/** The part of an ensemble's description that decides how its members' outputs are combined. */
export type Combining = Pick<EnsembleDescription, 'task' | 'combination'> & {
  /** Brings values back to the targets' own unit. */
  target?: TargetMeaning | undefined;
  /** What was fitted on held-out predictions of the same members. */
  postprocessing?: Fitted | null;
  /** Further outputs of the models; those that the stack lacks are left out. */
  outputs?: EnsembleDescription['outputs'];
};

type Combined<P extends EnsemblePredictions> = Omit<P, 'positions' | 'further'>;

/**
 * Combines the members' outputs as the task and the description say.
 * @throws Error for a product of a task that has none, and for what was fitted on another combination
 */
export function combineMembers(stack: MemberOutputStack, described: Combining): EnsemblePredictions {
  const combining = { ...described, combination: answersBy(described) };
  requireFittedOn(described, described.postprocessing ?? null);
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

/**
 * Answers of another combination would get thresholds and factors that are not theirs.
 * @throws Error that says what it was fitted on, and the remedy
 */
export function requireFittedOn(
  described: Pick<EnsembleDescription, 'task' | 'combination'>,
  fitted: Pick<Fitted, 'combination'> | null,
  subject = 'What was fitted',
  remedy = 'Fit it again with `tutti calibrate`, or remove it.',
): void {
  const [own, wanted] = [fitted?.combination ?? 'mean', answersBy(described)];
  if (fitted === null || own === wanted) return;
  throw new Error(
    `${subject} is for members that answer by their ${own}, but this ensemble answers by their ${wanted}. ` + remedy,
  );
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
  const plain = combination === 'mean' ? mean : answeredProbabilities(given, combination);
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
  { combination, postprocessing = null }: Combining,
): Combined<LabelPredictions> {
  const members = kind === 'label-logits' ? probabilitiesOf(given, 1) : given;
  const logits = kind === 'label-logits' ? given : logitsOf(given, 1);
  const stack = { members: memberCount, samples, classes: width, logits };
  const answers = postprocessing === null ? null : applyToLabels(postprocessing, stack, distances);
  const average = meanOf(members, memberCount);
  const plain = combination === 'product' ? meanLogits(stack).map(sigmoid) : average;
  const mean = postprocessing?.calibration && answers !== null ? answers.probabilities : plain;
  const total = average.map(binaryEntropy);
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
  { task, combination, target, postprocessing = null }: Combining,
): Combined<ValuePredictions> {
  const isCount = task === 'poisson-regression';
  // The variance of a count is its rate.
  const counts = isCount ? { ...stack, values: [stack.values[0], stack.values[0]] } : stack;
  const answers = answersFor(counts, postprocessing);
  const { members: memberCount, samples, width, values } = stack;
  const unit = ownUnit(isCount ? undefined : target, width);
  const [members] = values;
  const scales = postprocessing?.calibration?.method === 'sigma' ? postprocessing.calibration.scales : [1];
  const scaleOf = (i: number): number => scales[i % scales.length];
  const memberVariances = values.length > 1 ? values[1].map((own, i) => scaleOf(i) ** 2 * own) : null;
  const average = meanOf(members, memberCount);
  const isProduct = combination === 'product';
  const mean = answeredValues({ members: memberCount, samples: average.length, values: members }, combination);
  const variance = isCount
    ? mean.map((rate, i) => scaleOf(i) ** 2 * rate)
    : memberVariances && unit.variances(meanOf(memberVariances, memberCount));
  const epistemic = unit.deviations(deviationOf(members, memberCount, average).map((own, i) => scaleOf(i) * own));
  return {
    kind: 'values',
    memberCount,
    samples,
    width,
    members: unit.values(members),
    memberVariances: memberVariances && unit.variances(memberVariances),
    mean: unit.values(mean),
    aleatoric: variance?.map(Math.sqrt) ?? null,
    epistemic,
    // A product is one distribution, not a mixture: what the members differ by is no part of its variance.
    standardDeviation: epistemic.map((own, i) => Math.sqrt((isProduct ? 0 : own * own) + (variance?.[i] ?? 0))),
    intervals: isCount ? fromZero(answers?.intervals ?? null) : intervalsOf(answers, unit),
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
  const { members: memberCount, samples, width, values } = stack;
  const unit = ownUnit(target, width);
  const average = meanOf(values[0], memberCount);
  return {
    kind: 'quantiles',
    memberCount,
    samples,
    width,
    members: unit.values(values[0]),
    mean: unit.values(average),
    epistemic: unit.deviations(deviationOf(values[0], memberCount, average)),
    intervals: intervalsOf(answers, ownUnit(target, 1)),
    judgement: answers,
  };
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

function intervalsOf(answers: ValueAnswers | null, unit: OwnUnit): Intervals | null {
  if (!answers?.intervals) return null;
  const { lower, upper } = answers.intervals;
  return { lower: unit.values(lower), upper: unit.values(upper) };
}
