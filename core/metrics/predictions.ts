import { checkShape } from './checks.ts';
import type {
  PredictedClasses,
  Probabilities,
  StackedClasses,
  StackedLogits,
  StackedProbabilities,
  StackedValues,
  Values,
} from './stacks.ts';

/**
 * Returns the probabilities of one member, shape `[N, K]`: a view of given probabilities, or the softmax of its logits.
 */
export function memberProbabilities(stack: StackedClasses, member: number): Probabilities {
  const { samples, classes } = stack;
  const row = memberRow(stack, member);
  return 'logits' in stack ? softmax(Float64Array.from(row), classes) : { samples, classes, values: row };
}

/** Returns the values of one member, shape `[N]`, as a view. */
export function memberValues(stack: StackedValues, member: number): Float32Array {
  return memberRow(stack, member);
}

/** Applies `view` to every member, in order. */
export function eachMember<T>(members: number, view: (member: number) => T): T[] {
  return Array.from({ length: members }, (_, member) => view(member));
}

/** Mean of the members' probabilities, 1/M sum_m p_m, shape `[N, K]`: the ensemble's prediction. */
export function meanProbabilities(stack: StackedClasses): Probabilities {
  const { members, samples, classes } = stack;
  return { samples, classes, values: meanOfRows(members, (member) => memberProbabilities(stack, member).values) };
}

/**
 * Product of experts, the normalized geometric mean of p_m over m: the softmax of the members' mean logits, shape
 * `[N, K]` (Hinton, "Training products of experts by minimizing contrastive divergence", 2002). A given probability of
 * 0 in float32 counts as 2^-149, so that one member cannot rule out a class. @param without - a member to exclude
 */
export function productOfExperts(stack: StackedClasses, without: number | null = null): Probabilities {
  const members = Array.from({ length: stack.members }, (_, member) => member).filter((member) => member !== without);
  const logarithms = meanOfRows(members.length, (index) => {
    const { values, logValues } = memberProbabilities(stack, members[index]);
    return logValues ?? Float64Array.from(values, (value) => Math.log(Math.max(value, 2 ** -149)));
  });
  return softmax(logarithms, stack.classes);
}

/**
 * The geometric mean of the members' rates, `[M, N]` to `[N]`: exp of the mean of log-rates. A rate of 0 in float32
 * counts as 2^-149, so that one member cannot rule out every count. @param without - a member to exclude
 */
export function geometricMeanOverMembers(stack: StackedValues, without: number | null = null): Float64Array {
  const rows = eachMember(stack.members, (member) => memberRow(stack, member)).filter(
    (_, member) => member !== without,
  );
  const logarithm = (rate: number): number => Math.log(Math.max(rate, 2 ** -149));
  return meanOfRows(rows.length, (index) => Float64Array.from(rows[index], logarithm)).map(Math.exp);
}

/** Mean over the members, `[M, N]` to `[N]`. @param without - a member to exclude */
export function meanOverMembers(stack: StackedValues, without: number | null = null): Float64Array {
  const rows = eachMember(stack.members, (member) => memberRow(stack, member)).filter(
    (_, member) => member !== without,
  );
  return meanOfRows(rows.length, (index) => rows[index]);
}

/**
 * Converts binary predictions p(y = 1), `[M, N]`, to two classes [1 - p, p], `[M, N, 2]`, for the classification
 * metrics.
 */
export function toTwoClasses(positive: StackedValues): StackedProbabilities {
  return { ...shapeOf(positive), values: pairs(positive.values, (probability) => 1 - probability) };
}

/**
 * Converts binary logits, `[M, N]`, to logits of two classes [0, z], `[M, N, 2]`: their softmax is [sigmoid(-z),
 * sigmoid(z)].
 */
export function toTwoLogits(positive: StackedValues): StackedLogits {
  return { ...shapeOf(positive), logits: pairs(positive.values, () => 0) };
}

/** Arithmetic mean; NaN if any value is. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += values[index];
  return sum / values.length;
}

/**
 * Softmax of every row of logits and its logarithm, `(z - max) - log(sum exp(z - max))`, in float64. A logit of
 * -Infinity has probability 0; a row with NaN or Infinity is NaN throughout.
 *
 * @param logits shape `[N, K]`; overwritten with the logarithms
 */
export function softmax(logits: Float64Array, classes: number): Probabilities {
  const values = new Float64Array(logits.length);
  for (let start = 0; start < logits.length; start += classes) {
    const end = start + classes;
    let best = start;
    for (let i = start + 1; i < end; i++) if (logits[i] > logits[best]) best = i;
    const largest = logits[best];
    // The sum without the largest term, which is 1: log1p keeps small sums exact where the model is nearly certain.
    let others = 0;
    for (let i = start; i < end; i++) {
      values[i] = Math.exp(logits[i] - largest);
      if (i !== best) others += values[i];
    }
    const logSum = Math.log1p(others);
    for (let i = start; i < end; i++) {
      values[i] /= 1 + others;
      logits[i] = logits[i] - largest - logSum;
    }
  }
  return { samples: logits.length / classes, classes, values, logValues: logits };
}

/**
 * Converts predictions to the form that metrics take. The one output of a binary task becomes two classes.
 *
 * @param predictions - of all members
 */
export function stackedClasses({ kind, members, samples, width, values }: PredictedClasses): StackedClasses {
  const shape = { members, samples, classes: width };
  if (kind === 'logits') return width === 1 ? toTwoLogits({ members, samples, values }) : { ...shape, logits: values };
  return width === 1 ? toTwoClasses({ members, samples, values }) : { ...shape, values };
}

/**
 * Converts probabilities `[..., W]` to logits whose softmax (sigmoid if W = 1) they are, in the same shape. A
 * probability of 0 counts as 2^-149, the smallest positive float32.
 */
export function logitsOf(probabilities: Float32Array, width: number): Float32Array<ArrayBuffer> {
  const logarithm = (value: number) => Math.log(Math.max(value, 2 ** -149));
  return Float32Array.from(probabilities, (value) => logarithm(value) - (width === 1 ? logarithm(1 - value) : 0));
}

/** Softmax (sigmoid if W = 1) of logits `[..., W]` in float32, in the same shape. */
export function probabilitiesOf(logits: Float32Array, width: number): Float32Array<ArrayBuffer> {
  if (width === 1) return Float32Array.from(logits, (logit) => 1 / (1 + Math.exp(-logit)));
  return Float32Array.from(softmax(Float64Array.from(logits), width).values);
}

/** One member's part of the stack, as a view. */
export function memberRow(stack: StackedClasses | StackedValues, member: number): Float32Array {
  const { members, samples } = stack;
  const values = 'logits' in stack ? stack.logits : stack.values;
  checkShape('stack', values, 'classes' in stack ? [members, samples, stack.classes] : [members, samples]);
  const length = values.length / members;
  return values.subarray(member * length, (member + 1) * length);
}

function meanOfRows(members: number, rowOf: (member: number) => Values): Float64Array {
  const total = Float64Array.from(rowOf(0));
  for (let member = 1; member < members; member++) {
    const row = rowOf(member);
    for (let index = 0; index < total.length; index++) total[index] += row[index];
  }
  for (let index = 0; index < total.length; index++) total[index] /= members;
  return total;
}

function shapeOf({ members, samples }: StackedValues) {
  return { members, samples, classes: 2 };
}

/** [other, value] for each value. */
function pairs(values: Float32Array, otherOf: (value: number) => number): Float32Array {
  const both = new Float32Array(2 * values.length);
  for (let index = 0; index < values.length; index++) {
    both[2 * index] = otherOf(values[index]);
    both[2 * index + 1] = values[index];
  }
  return both;
}
