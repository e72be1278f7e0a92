import { memberProbabilities } from '../../metrics/predictions.ts';
import type { Probabilities, StackedClasses } from '../../metrics/stacks.ts';

/** Logarithm of the smallest positive float32, as in `logitsOf`. */
const LEAST_LOGARITHM = Math.log(2 ** -149);

/**
 * log(1/M sum_m softmax(z_m / T_m)), the logarithms of the ensemble's probabilities, by log-sum-exp in float64: shape
 * `[N, K]`.
 *
 * @param temperatures T of each member, shape `[M]`; all 1 by default
 */
export function logMixture(stack: StackedClasses, temperatures?: readonly number[]): Float64Array {
  const { members, samples, classes } = stack;
  const rows = Array.from({ length: members }, (_, member) =>
    memberLogProbabilities(stack, member, temperatures?.[member] ?? 1),
  );
  const mixture = new Float64Array(samples * classes);
  for (let index = 0; index < mixture.length; index++) {
    let largest = -Infinity;
    for (const row of rows) if (!(row[index] <= largest)) largest = row[index];
    let sum = 0;
    for (const row of rows) sum += Math.exp(row[index] - largest);
    mixture[index] = largest + Math.log(sum / members);
  }
  return mixture;
}

/** log softmax(z / T) of one member, shape `[N, K]`; a probability of 0 counts as 2^-149. */
export function memberLogProbabilities(stack: StackedClasses, member: number, temperature: number): Float64Array {
  const { values, logValues } = memberProbabilities(stack, member);
  const logarithms = logValues ?? Float64Array.from(values, (value) => Math.log(value));
  for (let index = 0; index < logarithms.length; index++) {
    if (logarithms[index] === -Infinity) logarithms[index] = LEAST_LOGARITHM;
  }
  return temperature === 1 ? logarithms : logSoftmax(logarithms, stack.classes, temperature);
}

/** log softmax(z / T) of each row, in a new array. */
export function logSoftmax(logits: Float64Array, classes: number, temperature = 1): Float64Array {
  const logarithms = new Float64Array(logits.length);
  for (let start = 0; start < logits.length; start += classes) {
    let largest = -Infinity;
    for (let i = start; i < start + classes; i++) if (!(logits[i] <= largest)) largest = logits[i];
    let sum = 0;
    for (let i = start; i < start + classes; i++) sum += Math.exp((logits[i] - largest) / temperature);
    const logSum = Math.log(sum);
    for (let i = start; i < start + classes; i++) logarithms[i] = (logits[i] - largest) / temperature - logSum;
  }
  return logarithms;
}

/** Probabilities of logarithms that are normalized, shape `[N, K]`. */
export function probabilitiesOfLogarithms(logValues: Float64Array, classes: number): Probabilities {
  return { samples: logValues.length / classes, classes, values: logValues.map(Math.exp), logValues };
}
