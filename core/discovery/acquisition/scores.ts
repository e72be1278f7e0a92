import { normalDensity, normalDistribution } from '../../numeric/normal.ts';
import type { Belief } from '../belief.ts';

/** Acquisition functions that score each candidate on its own, shape `[N]`; larger is better. NaN where a prediction is NaN. */

type Moments = Pick<Belief, 'mean' | 'deviation'>;

/** The upper confidence bound μ + κσ. Source: Auer, "Using confidence bounds for exploitation-exploration trade-offs", JMLR 2002. */
export function upperConfidenceBound({ mean, deviation }: Moments, kappa: number): Float64Array {
  return mean.map((own, i) => own + kappa * deviation[i]);
}

/**
 * The expected improvement over the best value so far, E[max(0, f − best − ξ)] = σ (z Φ(z) + φ(z)) with z = (μ − best − ξ)/σ; without deviation
 * max(0, μ − best − ξ). Source: Jones, Schonlau and Welch, "Efficient global optimization of expensive black-box functions", 1998, equation 15.
 */
export function expectedImprovement({ mean, deviation }: Moments, best: number, xi: number): Float64Array {
  return mean.map((own, i) => {
    const gain = own - best - xi;
    if (deviation[i] === 0) return gain < 0 ? 0 : gain;
    const z = gain / deviation[i];
    return deviation[i] * (z * normalDistribution(z) + normalDensity(z));
  });
}

/**
 * The probability of an improvement over the best value so far, Φ((μ − best − ξ)/σ); without deviation 0 or 1. Source: Kushner, "A new method of locating
 * the maximum point of an arbitrary multipeak curve in the presence of noise", 1964.
 */
export function improvementProbability({ mean, deviation }: Moments, best: number, xi: number): Float64Array {
  return mean.map((own, i) => {
    const gain = own - best - xi;
    if (Number.isNaN(gain)) return NaN;
    return deviation[i] === 0 ? Number(gain > 0) : normalDistribution(gain / deviation[i]);
  });
}

/**
 * What a class must exceed: the labels are 0 or 1, so the best one says nothing, and the largest mean of the open candidates takes its place. -Infinity where
 * no mean is a number.
 */
export function largestMean({ mean }: Moments, open: Int32Array): number {
  return open.reduce((best, index) => (mean[index] > best ? mean[index] : best), -Infinity);
}
