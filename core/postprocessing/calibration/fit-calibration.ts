import type { Combination } from '../../metrics/combination.ts';
import type { StackedClasses } from '../../metrics/stacks.ts';
import { totalWeight, type Weights } from '../../metrics/weights.ts';
import type { ClassSamples } from '../held-out.ts';
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
const classCalibrations = [
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
 * Those that suit what answers. Before a product, one temperature is the same as after it, and one for each member gives members weights in the
 * product that was trained with equal ones.
 */
export function classCalibrationsOf(combination: Combination = 'mean'): readonly ClassCalibration[] {
  const beforeAveraging: readonly ClassCalibration[] = [
    'shared-temperature',
    'member-temperatures',
    'joint-temperatures',
  ];
  return classCalibrations.filter((method) => combination === 'mean' || !beforeAveraging.includes(method));
}

/**
 * Fits a calibration of classes on held-out predictions, each with its weight.
 *
 * @param regularization λ of `dirichlet`
 */
export function fitClassCalibration(
  method: ClassCalibration,
  samples: Pick<ClassSamples, 'stack' | 'targets' | 'weights'>,
  regularization = 0.01,
): Calibration {
  const { stack, targets, weights } = samples;
  const all = (temperature: number): number[] => Array.from({ length: stack.members }, () => temperature);
  switch (method) {
    case 'pooled-temperature':
      return { method, temperature: fitPooledTemperature(stack, targets, weights) };
    case 'shared-temperature':
      return { method: 'temperature', fit: 'shared', temperatures: all(fitSharedTemperature(stack, targets, weights)) };
    case 'member-temperatures':
      return { method: 'temperature', fit: 'per-member', temperatures: fitMemberTemperatures(stack, targets, weights) };
    case 'joint-temperatures':
      return { method: 'temperature', fit: 'joint', temperatures: fitJointTemperatures(stack, targets, weights) };
    case 'vector':
      return fitVector(stack, samples);
    case 'dirichlet':
      return fitDirichlet(stack, samples, regularization);
    case 'isotonic':
      return { method, classes: fitIsotonicMaps(stack, targets, weights) };
  }
}

/**
 * Sigma scaling: the factor s of the standard deviations with the least Gaussian NLL, s² = sum_n w_n (y_n − μ_n)² / σ_n² / sum_n w_n, for each target.
 *
 * Source: Laves, Ihler, Fast, Kahrs and Ortmaier, "Well-calibrated regression uncertainty in medical imaging with deep learning", MIDL 2020.
 *
 * @param mean shape `[N, T]`
 * @param variance shape `[N, T]`
 * @param targets shape `[N, T]`
 * @param weights w, shape `[N]`; by default all 1
 * @returns the scales, shape `[T]`
 */
export function fitSigmaScales(
  mean: Float64Array,
  variance: Float64Array,
  targets: ArrayLike<number>,
  columns: number,
  weights?: Weights,
): number[] {
  const sums = new Float64Array(columns);
  mean.forEach((value, index) => {
    const weight = weights?.[Math.floor(index / columns)] ?? 1;
    sums[index % columns] += (weight * (targets[index] - value) ** 2) / variance[index];
  });
  return Array.from(sums, (sum) => Math.sqrt(sum / totalWeight(mean.length / columns, weights)));
}

function fitIsotonicMaps(stack: StackedClasses, targets: Int32Array, weights?: Weights) {
  const { classes, samples } = stack;
  const pooled = logMixture(stack);
  return Array.from({ length: classes }, (_, label) => {
    const scores = new Float64Array(samples).map((_, sample) => Math.exp(pooled[sample * classes + label]));
    return fitIsotonic(scores, (sample) => targets[sample] === label, weights);
  });
}
