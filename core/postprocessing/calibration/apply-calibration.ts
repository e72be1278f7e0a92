import { memberRow } from '../../metrics/predictions.ts';
import type { Probabilities, StackedClasses, StackedLogits } from '../../metrics/stacks.ts';
import { logitsOf } from '../../metrics/predictions.ts';
import type { Calibration } from '../schema.ts';
import { applyIsotonic } from './isotonic.ts';
import { logMixture, logSoftmax, probabilitiesOfLogarithms } from './mixture.ts';

/**
 * The ensemble's calibrated probabilities, shape `[N, K]`; those of the plain mean without calibration.
 *
 * @param stack probabilities or logits of the members for which the calibration was fitted, in that order, shape
 * `[M, N, K]`
 * @throws RangeError where members or classes are not those of the calibration
 */
export function calibratedProbabilities(calibration: Calibration | null, stack: StackedClasses): Probabilities {
  const { classes } = stack;
  if (calibration?.method === 'temperature') {
    checkCount('members', stack.members, calibration.temperatures.length);
    return probabilitiesOfLogarithms(logMixture(stack, calibration.temperatures), classes);
  }
  const logarithms = logMixture(stack);
  if (calibration === null) return probabilitiesOfLogarithms(logarithms, classes);
  return calibratedPool(calibration, logarithms, classes);
}

/** Calibrations of the ensemble's probabilities after averaging, from their logarithms, `[N, K]`. */
function calibratedPool(
  calibration: Exclude<Calibration, { method: 'temperature' }>,
  logarithms: Float64Array,
  classes: number,
): Probabilities {
  switch (calibration.method) {
    case 'pooled-temperature':
      return probabilitiesOfLogarithms(logSoftmax(logarithms, classes, calibration.temperature), classes);
    case 'vector': {
      const { scale, bias } = calibration;
      checkCount('classes', classes, scale.length);
      const mapped = logarithms.map((value, index) => scale[index % classes] * value + bias[index % classes]);
      return probabilitiesOfLogarithms(logSoftmax(mapped, classes), classes);
    }
    case 'dirichlet': {
      checkCount('classes', classes, calibration.weights.length);
      const mapped = linearMap(logarithms, calibration.weights, calibration.bias);
      return probabilitiesOfLogarithms(logSoftmax(mapped, classes), classes);
    }
    case 'isotonic':
      checkCount('classes', classes, calibration.classes.length);
      return applyIsotonic(calibration.classes, logarithms.map(Math.exp));
    case 'labels':
      throw new RangeError('The calibration "labels" is one of labels: apply it to these, not to classes.');
    case 'sigma':
      throw new RangeError(
        'The calibration "sigma" scales standard deviations: apply it to values, not to probabilities of classes.',
      );
  }
}

/**
 * The members' logits as calibration before averaging changes them, z_m / T_m; unchanged by calibrations after
 * averaging. Shape `[M, N, K]`.
 */
export function calibratedMembers(calibration: Calibration | null, stack: StackedClasses): StackedLogits {
  const { members, samples, classes } = stack;
  const logits = 'logits' in stack ? stack.logits.slice() : logitsOf(stack.values, classes);
  const result = { members, samples, classes, logits };
  if (calibration?.method !== 'temperature') return result;
  checkCount('members', members, calibration.temperatures.length);
  for (const [member, temperature] of calibration.temperatures.entries()) {
    const row = memberRow(result, member);
    for (let index = 0; index < row.length; index++) row[index] /= temperature;
  }
  return result;
}

function linearMap(rows: Float64Array, weights: readonly number[][], bias: readonly number[]): Float64Array {
  const classes = bias.length;
  const mapped = new Float64Array(rows.length);
  for (let start = 0; start < rows.length; start += classes) {
    for (let to = 0; to < classes; to++) {
      let sum = bias[to];
      for (let from = 0; from < classes; from++) sum += weights[to][from] * rows[start + from];
      mapped[start + to] = sum;
    }
  }
  return mapped;
}

function checkCount(subject: string, found: number, fitted: number): void {
  if (found === fitted) return;
  throw new RangeError(
    `The predictions have ${found} ${subject}, the calibration was fitted for ${fitted}: apply it to the set that ` +
      'it was fitted for, or fit it again with `tutti calibrate`.',
  );
}
