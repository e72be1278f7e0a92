import type { Probabilities, StackedValues, Values } from './stacks.ts';

/** Softmax in float32 may exceed 1 by rounding. */
const ROUNDING = 1e-5;

/** @throws RangeError when the values do not fill the shape, or a dimension is not a whole number of at least 1. */
export function checkShape(name: string, values: { length: number }, shape: number[]): void {
  const size = shape.reduce((product, dimension) => product * dimension, 1);
  if (values.length === size && shape.every((dimension) => Number.isInteger(dimension) && dimension >= 1)) return;
  throw new RangeError(
    `${name} holds ${values.length} values but its shape is [${shape.join(', ')}]: the product of the dimensions, ` +
      `whole numbers from 1 up, is the number of values; pass all predictions of the split, once each`,
  );
}

/** @throws RangeError when means and variances, both `[M, N]`, do not pair up. */
export function checkSameShape(means: StackedValues, variances: StackedValues): void {
  if (means.members === variances.members && means.samples === variances.samples) return;
  throw new RangeError(
    `means have shape [${means.members}, ${means.samples}] but variances [${variances.members}, ` +
      `${variances.samples}]: every predicted mean has one variance; gather both from the same members and samples`,
  );
}

/**
 * Checks the arguments of a classification metric.
 *
 * @param targets class indices, shape `[N]`
 * @returns whether all probabilities are finite; if not, the metric is NaN
 * @throws RangeError when shapes differ, a probability is outside [0, 1] or a target outside [0, K)
 */
export function checkClassification(probabilities: Probabilities, targets: Int32Array): boolean {
  const { samples, classes, values } = probabilities;
  checkShape('probabilities', values, [samples, classes]);
  checkShape('targets', targets, [samples]);
  checkTargets(targets, classes);
  return checkRange(values);
}

/** @throws RangeError unless every member has one rank and no two share it. */
export function checkRanks(ranks: number[], members: number): void {
  if (ranks.length === members && new Set(ranks).size === members) return;
  throw new RangeError(
    `ranks [${ranks.join(', ')}] for ${members} members: metrics are named by rank, so every member needs a ` +
      'different one; pass the ranks in the order of the stack',
  );
}

/** @throws RangeError when a variance is negative. NaN passes: the metric will be NaN. */
export function checkVariances(variances: Values): void {
  const index = variances.findIndex((variance) => variance < 0);
  if (index === -1) return;
  throw new RangeError(
    `variances[${index}] is ${variances[index]}: a variance is positive; end the variance head with softplus or exp`,
  );
}

export function allFinite(values: Values): boolean {
  return values.every(Number.isFinite);
}

function checkTargets(targets: Int32Array, classes: number): void {
  const index = targets.findIndex((target) => target < 0 || target >= classes);
  if (index === -1) return;
  throw new RangeError(
    `targets[${index}] is ${targets[index]}: a target is a class index in [0, ${classes}); number the classes from ` +
      '0, or give the model one output for each class',
  );
}

function checkRange(probabilities: Values): boolean {
  let finite = true;
  for (let index = 0; index < probabilities.length; index++) {
    const value = probabilities[index];
    if (!Number.isFinite(value)) finite = false;
    else if (value < 0 || value > 1 + ROUNDING) {
      throw new RangeError(
        `probabilities[${index}] is ${value}: a probability lies in [0, 1]; ` +
          `apply softmax (or, for a binary task, sigmoid) to the model's outputs`,
      );
    }
  }
  return finite;
}
