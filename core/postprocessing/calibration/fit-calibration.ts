import type { StackedClasses } from '../../metrics/stacks.ts';
import type { Calibration } from '../schema.ts';
import { fitDirichlet, fitVector } from './fit-linear.ts';
import { fitIsotonic } from './isotonic.ts';
import {
  fitJointTemperatures,
  fitMemberTemperatures,
  fitPooledTemperature,
  fitSharedTemperature,
} from './fit-temperature.ts';
import { logMixture } from './mixture.ts';

/** Ways to calibrate an ensemble's probabilities. */
export const classCalibrations = [
  'pooled-temperature',
  'shared-temperature',
  'member-temperatures',
  'joint-temperatures',
  'vector',
  'dirichlet',
  'isotonic',
] as const;
export type ClassCalibration = (typeof classCalibrations)[number];

/**
 * Fits a calibration of classes on held-out predictions.
 *
 * @param stack shape `[M, N, K]`
 * @param targets class indices, shape `[N]`
 * @param regularization λ of `dirichlet`
 */
export function fitClassCalibration(
  method: ClassCalibration,
  stack: StackedClasses,
  targets: Int32Array,
  regularization = 0.01,
): Calibration {
  const all = (temperature: number): number[] => Array.from({ length: stack.members }, () => temperature);
  switch (method) {
    case 'pooled-temperature':
      return { method, temperature: fitPooledTemperature(stack, targets) };
    case 'shared-temperature':
      return { method: 'temperature', fit: 'shared', temperatures: all(fitSharedTemperature(stack, targets)) };
    case 'member-temperatures':
      return { method: 'temperature', fit: 'per-member', temperatures: fitMemberTemperatures(stack, targets) };
    case 'joint-temperatures':
      return { method: 'temperature', fit: 'joint', temperatures: fitJointTemperatures(stack, targets) };
    case 'vector':
      return fitVector(stack, targets);
    case 'dirichlet':
      return fitDirichlet(stack, targets, regularization);
    case 'isotonic':
      return { method, classes: fitIsotonicMaps(stack, targets) };
  }
}

/**
 * Sigma scaling: the factor s of the standard deviations with the least Gaussian NLL, s² = 1/N sum_n (y_n − μ_n)² / σ_n², for each target.
 *
 * Source: Laves, Ihler, Fast, Kahrs and Ortmaier, "Well-calibrated regression uncertainty in medical imaging with deep learning", MIDL 2020.
 *
 * @param mean shape `[N, T]`
 * @param variance shape `[N, T]`
 * @param targets shape `[N, T]`
 * @returns the scales, shape `[T]`
 */
export function fitSigmaScales(
  mean: Float64Array,
  variance: Float64Array,
  targets: ArrayLike<number>,
  columns: number,
): number[] {
  const sums = new Float64Array(columns);
  mean.forEach((value, index) => (sums[index % columns] += (targets[index] - value) ** 2 / variance[index]));
  return Array.from(sums, (sum) => Math.sqrt((sum * columns) / mean.length));
}

function fitIsotonicMaps(stack: StackedClasses, targets: Int32Array) {
  const { classes, samples } = stack;
  const pooled = logMixture(stack);
  return Array.from({ length: classes }, (_, label) => {
    const scores = new Float64Array(samples).map((_, sample) => Math.exp(pooled[sample * classes + label]));
    return fitIsotonic(scores, (sample) => targets[sample] === label);
  });
}
