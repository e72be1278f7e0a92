import { checkShape } from './checks.ts';

/**
 * Predictions of an ensemble, as typed arrays. Legend: `M` members, `N` samples, `K` classes.
 *
 * All metrics accumulate in float64. Permuting the members permutes the per-member results and changes the others by
 * no more than rounding. A metric of predictions that are not all finite is NaN, never a plausible number.
 */

/** Class probabilities of all members, shape `[M, N, K]`, row-major. */
export interface StackedProbabilities {
  members: number;
  samples: number;
  classes: number;
  values: Float32Array;
}

/** Class probabilities of one model, or of the ensemble as one, shape `[N, K]`, row-major. */
export interface Probabilities {
  samples: number;
  classes: number;
  values: Values;
}

/** One number a member and sample (a predicted mean, a variance, p(y = 1)), shape `[M, N]`, row-major. */
export interface StackedValues {
  members: number;
  samples: number;
  values: Float32Array;
}

/** Numbers of one model, or of the ensemble as one; shape `[N]` where nothing else is said. */
export type Values = Float32Array | Float64Array;

/** The probabilities of one member, shape `[N, K]`: a view, not a copy. */
export function memberProbabilities(stack: StackedProbabilities, member: number): Probabilities {
  const { samples, classes } = stack;
  return { samples, classes, values: memberRow(stack, member) };
}

/** The values of one member, shape `[N]`: a view, not a copy. */
export function memberValues(stack: StackedValues, member: number): Float32Array {
  return memberRow(stack, member);
}

/** What `view` makes of every member, in order. */
export function eachMember<T>(members: number, view: (member: number) => T): T[] {
  return Array.from({ length: members }, (_, member) => view(member));
}

/** The ensemble's prediction, the mean over m of p_m, shape `[N, K]`. */
export function meanProbabilities(stack: StackedProbabilities): Probabilities {
  const { samples, classes } = stack;
  return { samples, classes, values: meanOverMembers(stack) };
}

/**
 * The product of experts, the normalized geometric mean of p_m over m: the softmax of the members' mean logits, shape `[N, K]`
 * (Hinton, "Training products of experts by minimizing contrastive divergence", 2002). A probability that float32 rounds to 0
 * counts as 2^-149, so that one member cannot rule a class out.
 */
export function productOfExperts(stack: StackedProbabilities): Probabilities {
  const { members, samples, classes } = stack;
  const product = new Float64Array(samples * classes);
  for (let member = 0; member < members; member++) {
    const row = memberRow(stack, member);
    for (let i = 0; i < product.length; i++) product[i] += Math.log(Math.max(row[i], 2 ** -149)) / members;
  }
  for (let sample = 0; sample < samples; sample++) {
    normalizeExponentials(product.subarray(sample * classes, (sample + 1) * classes));
  }
  return { samples, classes, values: product };
}

/** Mean over the members: `[M, N, K]` to `[N, K]`, `[M, N]` to `[N]`. */
export function meanOverMembers(stack: StackedProbabilities | StackedValues): Float64Array {
  const mean = new Float64Array(stack.values.length / stack.members);
  for (let member = 0; member < stack.members; member++) {
    const row = memberRow(stack, member);
    for (let index = 0; index < mean.length; index++) mean[index] += row[index];
  }
  return mean.map((sum) => sum / stack.members);
}

/** Binary predictions p(y = 1), `[M, N]`, as two classes [1 - p, p], `[M, N, 2]`, for the classification metrics. */
export function toTwoClasses(positive: StackedValues): StackedProbabilities {
  const values = new Float32Array(2 * positive.values.length);
  positive.values.forEach((probability, index) => {
    values[2 * index] = 1 - probability;
    values[2 * index + 1] = probability;
  });
  return { members: positive.members, samples: positive.samples, classes: 2, values };
}

/** Arithmetic mean; NaN if any value is. */
export function mean(values: Values | number[]): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += values[index];
  return sum / values.length;
}

/** In place: softmax of one row of logits. */
function normalizeExponentials(row: Float64Array): void {
  const largest = row.reduce((best, logit) => Math.max(best, logit), -Infinity);
  let sum = 0;
  for (let i = 0; i < row.length; i++) sum += row[i] = Math.exp(row[i] - largest);
  for (let i = 0; i < row.length; i++) row[i] /= sum;
}

function memberRow(stack: StackedProbabilities | StackedValues, member: number): Float32Array {
  const { members, samples, values } = stack;
  checkShape('stack', values, 'classes' in stack ? [members, samples, stack.classes] : [members, samples]);
  const length = values.length / members;
  return values.subarray(member * length, (member + 1) * length);
}
