import type { Combination } from '../../metrics/combination.ts';
import type { StackedClasses } from '../../metrics/stacks.ts';
import { weightedMean, type Weights } from '../../metrics/weights.ts';
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
import { priorShare, softTargets } from './judge.ts';

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
 * Those that suit what answers. Before a product, one temperature is the same as after it, and one for each member
 * gives members weights in the product that was trained with equal ones.
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
 * @param prior samples that count as seen with the outcomes that the uncalibrated answers expect; 0: none
 */
export function fitClassCalibration(
  method: ClassCalibration,
  { stack, targets, weights }: Pick<ClassSamples, 'stack' | 'targets' | 'weights'>,
  regularization = 0.01,
  prior = 0,
): Calibration {
  const all = (temperature: number): number[] => Array.from({ length: stack.members }, () => temperature);
  const share = priorShare(prior, targets.length, weights);
  const fitting = { stack, targets, weights, share };
  const labels = () => ({ targets: softTargets(targets, logMixture(stack), share), weights });
  switch (method) {
    case 'pooled-temperature':
      return { method, temperature: fitPooledTemperature(fitting) };
    case 'shared-temperature':
      return { method: 'temperature', fit: 'shared', temperatures: all(fitSharedTemperature(fitting)) };
    case 'member-temperatures':
      return { method: 'temperature', fit: 'per-member', temperatures: fitMemberTemperatures(fitting) };
    case 'joint-temperatures':
      return { method: 'temperature', fit: 'joint', temperatures: fitJointTemperatures(fitting) };
    case 'vector':
      return fitVector(stack, labels());
    case 'dirichlet':
      return fitDirichlet(stack, labels(), regularization);
    case 'isotonic':
      return { method, classes: fitIsotonicMaps(stack, labels().targets, weights) };
  }
}

/**
 * Sigma scaling: the factor s of the standard deviations with the least Gaussian NLL, for each target. With r = (y − μ)
 * / σ it is s² = (mean of r² by the weights + share) / (1 + share): the prior's samples have r² = 1.
 *
 * Source: Laves, Ihler, Fast, Kahrs and Ortmaier, "Well-calibrated regression uncertainty in medical imaging with deep
 * learning", MIDL 2020.
 *
 * @param mean shape `[N, T]`
 * @param variance shape `[N, T]`
 * @param targets shape `[N, T]`
 * @param weights w, shape `[N, T]`: 0 for targets that do not count; by default all 1
 * @param prior samples that count as seen with the errors that the deviations expect; 0: none
 * @returns the scales, shape `[T]`; 1 for a target without a value that counts
 */
export function fitSigmaScales(
  mean: Float64Array,
  variance: Float64Array,
  targets: ArrayLike<number>,
  columns: number,
  weights?: Weights,
  prior = 0,
): number[] {
  const ratios = mean.map((value, index) => (targets[index] - value) ** 2 / variance[index]);
  return Array.from({ length: columns }, (_, column) => {
    const isOwn = (_value: number, index: number): boolean => index % columns === column && weights?.[index] !== 0;
    const [own, ownWeights] = [ratios.filter(isOwn), weights?.filter(isOwn)];
    if (own.length === 0) return 1;
    const share = priorShare(prior, own.length, ownWeights);
    return Math.sqrt((weightedMean(own, ownWeights) + share) / (1 + share));
  });
}

function fitIsotonicMaps(stack: StackedClasses, targets: Float64Array, weights?: Weights) {
  const { classes, samples } = stack;
  const pooled = logMixture(stack);
  return Array.from({ length: classes }, (_, label) => {
    const scores = new Float64Array(samples).map((_, sample) => Math.exp(pooled[sample * classes + label]));
    return fitIsotonic(scores, (sample) => targets[sample * classes + label], weights);
  });
}
