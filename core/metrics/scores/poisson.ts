import { checkShape } from '../checks.ts';
import type { Values } from '../stacks.ts';
import { weightedMean, type Weights } from '../weights.ts';

/**
 * Log-probabilities of counts under Poisson distributions, y log λ - λ - log y!, in nats, shape `[N]`. NaN where the rate is not positive
 * and finite.
 *
 * @param rates λ, shape `[N]`
 * @param counts y, whole numbers from 0, shape `[N]`
 */
export function poissonLogProbabilities(rates: Values, counts: Values): Float64Array {
  checkShape('targets', counts, [rates.length]);
  return Float64Array.from(counts, (count, n) => {
    const rate = rates[n];
    return rate > 0 && rate < Infinity ? count * Math.log(rate) - rate - logFactorial(count) : NaN;
  });
}

/** Mean Poisson deviance, 2/N Σ (y log(y/λ) - y + λ), with 0 log 0 = 0. Shapes `[N]`. */
export function poissonDeviance(rates: Values, counts: Values, weights?: Weights): number {
  checkShape('targets', counts, [rates.length]);
  return weightedMean(
    Float64Array.from(counts, (count, n) => {
      const rate = rates[n];
      if (!(rate > 0 && rate < Infinity)) return NaN;
      return 2 * ((count === 0 ? 0 : count * Math.log(count / rate)) - count + rate);
    }),
    weights,
  );
}

/** log n!: the sum of logarithms up to 20, then Stirling's series. */
function logFactorial(n: number): number {
  if (n <= 20) {
    let sum = 0;
    for (let factor = 2; factor <= n; factor++) sum += Math.log(factor);
    return sum;
  }
  const correction = 1 / (12 * n) - 1 / (360 * n ** 3) + 1 / (1260 * n ** 5);
  return n * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI * n) + correction;
}
