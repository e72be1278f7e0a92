import { massBetween, normalDistribution, normalQuantile } from '../../numeric/normal.ts';
import { type NumericDomain, type ParameterValue, scaleBounds, valueOnScale } from '../space/domain.ts';

/** The distributions of one parameter around the values of trials, and the prior's behind them: one kernel each. */
export interface Kernels<Value extends ParameterValue> {
  /** A value of a kernel's distribution. @param uniform in [0, 1) */
  sample(kernel: number, uniform: number): Value;
  /** Adds to each kernel's log density what does not depend on the value. */
  addConstants(logDensities: Float64Array): void;
  /** Adds to each kernel's log density what depends on the value. */
  addLogDensities(value: Value, logDensities: Float64Array): void;
}

/** Σ over x of exp, as a logarithm; -Infinity where all are. */
export function logSumExp(values: Float64Array): number {
  let most = -Infinity;
  for (let index = 0; index < values.length; index++) if (values[index] > most) most = values[index];
  if (most === -Infinity) return most;
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += Math.exp(values[index] - most);
  return most + Math.log(sum);
}

const halfLogTwoPi = Math.log(2 * Math.PI) / 2;

/**
 * One normal distribution around each observed value, cut off at the bounds of the domain, and a wide one for the
 * prior. A kernel's deviation is the distance to the farther neighbour, at least (high - low) / min(100, 1 + kernels)
 * ("magic clip") and at most high - low. Values in steps have the mass of their interval, others the density; both on
 * the domain's scale.
 *
 * Source: Bergstra et al., "Algorithms for hyper-parameter optimization", 2011; Watanabe, "Tree-structured Parzen
 * estimator", 2023; Optuna.
 */
export class NumericKernels implements Kernels<number> {
  readonly #domain: NumericDomain;
  readonly #low: number;
  readonly #high: number;
  readonly #means: Float64Array;
  readonly #deviations: Float64Array;
  /** The first of the run of kernels to which each belongs: kernels with the same mean and deviation. */
  readonly #same: Int32Array;
  readonly #computed: Float64Array;

  /** @param values the observed values; the prior's kernel follows them */
  constructor(domain: NumericDomain, values: readonly number[]) {
    const { low, high } = scaleBounds(domain);
    [this.#domain, this.#low, this.#high] = [domain, low, high];
    this.#means = new Float64Array(values.length + 1);
    for (const [index, value] of values.entries()) this.#means[index] = domain.log ? Math.log(value) : value;
    this.#means[values.length] = (low + high) / 2;
    this.#deviations = new Float64Array(values.length + 1);
    this.#same = Int32Array.from(this.#means.keys());
    this.#computed = new Float64Array(this.#means.length);
    this.#spread();
  }

  sample(kernel: number, uniform: number): number {
    const [mean, deviation] = [this.#means[kernel], this.#deviations[kernel]];
    const lower = normalDistribution((this.#low - mean) / deviation);
    const upper = normalDistribution((mean - this.#high) / deviation);
    const mass = 1 - lower - upper;
    const share = lower + uniform * mass;
    // In the upper half the complement keeps the digits.
    const place = share < 0.5 ? normalQuantile(share) : -normalQuantile(upper + (1 - uniform) * mass);
    return valueOnScale(this.#domain, Math.min(Math.max(mean + deviation * place, this.#low), this.#high));
  }

  addConstants(logDensities: Float64Array): void {
    const isDensity = this.#domain.step === null;
    this.#addForEach(logDensities, (mean, deviation) => {
      const mass = massBetween((this.#low - mean) / deviation, (this.#high - mean) / deviation);
      return -Math.log(mass) - (isDensity ? Math.log(deviation) + halfLogTwoPi : 0);
    });
  }

  addLogDensities(value: number, logDensities: Float64Array): void {
    const { log, step } = this.#domain;
    if (step === null) {
      this.#addDensities(log ? Math.log(value) : value, logDensities);
      return;
    }
    const [lower, upper] = [value - step / 2, value + step / 2];
    this.#addMasses(log ? Math.log(lower) : lower, log ? Math.log(upper) : upper, logDensities);
  }

  #addDensities(place: number, logDensities: Float64Array): void {
    const [means, deviations] = [this.#means, this.#deviations];
    for (let kernel = 0; kernel < logDensities.length; kernel++) {
      const distance = (place - means[kernel]) / deviations[kernel];
      logDensities[kernel] -= 0.5 * distance * distance;
    }
  }

  #addMasses(lower: number, upper: number, logDensities: Float64Array): void {
    this.#addForEach(logDensities, (mean, deviation) =>
      Math.log(massBetween((lower - mean) / deviation, (upper - mean) / deviation)),
    );
  }

  /** Adds what depends on mean and deviation only, computed once for a run of equal kernels. */
  #addForEach(logDensities: Float64Array, compute: (mean: number, deviation: number) => number): void {
    const [means, deviations, same, computed] = [this.#means, this.#deviations, this.#same, this.#computed];
    for (let kernel = 0; kernel < computed.length; kernel++) {
      if (same[kernel] === kernel) computed[kernel] = compute(means[kernel], deviations[kernel]);
    }
    for (let kernel = 0; kernel < computed.length; kernel++) logDensities[kernel] += computed[same[kernel]];
  }

  #spread(): void {
    const count = this.#means.length - 1;
    const widest = this.#high - this.#low;
    const narrowest = widest / Math.min(100, 2 + count);
    const means = this.#means;
    const order = Int32Array.from({ length: count }, (_, index) => index);
    order.sort((left, right) => means[left] - means[right] || left - right);
    for (let place = 0; place < count; place++) {
      const gap = this.#widerGap(order, place);
      this.#deviations[order[place]] = Math.min(Math.max(gap, narrowest), widest);
    }
    this.#deviations[count] = widest;
    for (let place = 1; place < count; place++) {
      const [before, kernel] = [order[place - 1], order[place]];
      const equal =
        this.#means[before] === this.#means[kernel] && this.#deviations[before] === this.#deviations[kernel];
      // The run's smallest kernel comes first in it, because the order is stable.
      if (equal) this.#same[kernel] = this.#same[before];
    }
  }

  /** The wider of the gaps to both neighbours. The bounds are neighbours only of a single value. */
  #widerGap(order: Int32Array, place: number): number {
    const means = this.#means;
    const mean = means[order[place]];
    const last = order.length - 1;
    if (last === 0) return Math.max(mean - this.#low, this.#high - mean);
    const before = place === 0 ? 0 : mean - means[order[place - 1]];
    const after = place === last ? 0 : means[order[place + 1]] - mean;
    return Math.max(before, after);
  }
}
