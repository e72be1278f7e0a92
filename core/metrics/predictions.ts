import { checkShape } from './checks.ts';

/**
 * Predictions of an ensemble, as typed arrays. Legend: `M` members, `N` samples, `K` classes.
 *
 * All metrics accumulate in float64. Permuting the members permutes the per-member results and changes the others by
 * no more than rounding. A metric of predictions that are not all finite is NaN, never a plausible number.
 */

/** Class probabilities of all members. */
export interface StackedProbabilities {
  /** M. */
  members: number;
  /** N. */
  samples: number;
  /** K. */
  classes: number;
  /** Shape `[M, N, K]`, row-major. */
  values: Float32Array;
}

/**
 * Logits of all members. They hold more information than probabilities, which float32 rounds to 0 and 1: metrics compute their
 * softmax in float64.
 */
export interface StackedLogits {
  /** M. */
  members: number;
  /** N. */
  samples: number;
  /** K. */
  classes: number;
  /** Shape `[M, N, K]`, row-major. */
  logits: Float32Array;
}

/** Predictions of classifiers, as probabilities or as logits. */
export type StackedClasses = StackedProbabilities | StackedLogits;

/** Class probabilities of one model, or of the ensemble as one model. */
export interface Probabilities {
  /** N. */
  samples: number;
  /** K. */
  classes: number;
  /** Shape `[N, K]`, row-major. */
  values: Values;
  /** Logarithms of `values`, where known more precisely: a probability may be too small for its type. */
  logValues?: Float64Array;
}

/** One number per member and sample: a predicted mean, a variance, or p(y = 1). */
export interface StackedValues {
  /** M. */
  members: number;
  /** N. */
  samples: number;
  /** Shape `[M, N]`, row-major. */
  values: Float32Array;
}

/** Numbers of one model, or of the ensemble as one model; shape `[N]` unless stated otherwise. */
export type Values = Float32Array | Float64Array;

/** Returns the probabilities of one member, shape `[N, K]`: a view of given probabilities, or the softmax of its logits. */
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
 * Product of experts, the normalized geometric mean of p_m over m: the softmax of the members' mean logits, shape `[N, K]`
 * (Hinton, "Training products of experts by minimizing contrastive divergence", 2002). A given probability of 0 in float32 counts as
 * 2^-149, so that one member cannot rule out a class.
 */
export function productOfExperts(stack: StackedClasses): Probabilities {
  const logarithms = meanOfRows(stack.members, (member) => {
    const { values, logValues } = memberProbabilities(stack, member);
    return logValues ?? Float64Array.from(values, (value) => Math.log(Math.max(value, 2 ** -149)));
  });
  return softmax(logarithms, stack.classes);
}

/** Mean over the members, `[M, N]` to `[N]`. @param without - a member to exclude */
export function meanOverMembers(stack: StackedValues, without: number | null = null): Float64Array {
  const rows = eachMember(stack.members, (member) => memberRow(stack, member)).filter(
    (_, member) => member !== without,
  );
  return meanOfRows(rows.length, (index) => rows[index]);
}

/** Converts binary predictions p(y = 1), `[M, N]`, to two classes [1 - p, p], `[M, N, 2]`, for the classification metrics. */
export function toTwoClasses(positive: StackedValues): StackedProbabilities {
  return { ...shapeOf(positive), values: pairs(positive.values, (probability) => 1 - probability) };
}

/** Converts binary logits, `[M, N]`, to logits of two classes [0, z], `[M, N, 2]`: their softmax is [sigmoid(-z), sigmoid(z)]. */
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
 * Softmax of every row of logits and its logarithm, `(z - max) - log(sum exp(z - max))`, in float64. A logit of -Infinity has
 * probability 0; a row with NaN or Infinity is NaN throughout.
 *
 * @param logits shape `[N, K]`; the logarithms take their place
 */
export function softmax(logits: Float64Array, classes: number): Probabilities {
  const values = new Float64Array(logits.length);
  for (let start = 0; start < logits.length; start += classes) {
    const end = start + classes;
    let best = start;
    for (let i = start + 1; i < end; i++) if (logits[i] > logits[best]) best = i;
    const largest = logits[best];
    // Of all but the largest, whose term is 1: log1p keeps what is left for them where the model is nearly certain.
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
