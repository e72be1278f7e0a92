/** Density of the standard normal distribution. */
export function normalDensity(value: number): number {
  return Math.exp(-(value ** 2) / 2) / Math.sqrt(2 * Math.PI);
}

/** Distribution function of the standard normal distribution, to some 15 digits: erfc(-value / √2) / 2. */
export function normalDistribution(value: number): number {
  const tail = upperTail(Math.abs(value));
  return value > 0 ? 1 - tail : tail;
}

/**
 * P(Z > x) for x >= 0: below 3 by the series Φ(x) - 1/2 = φ(x) (x + x³/3 + x⁵/(3·5) + ...) (Marsaglia, "Evaluating the normal
 * distribution", 2004), above by the continued fraction φ(x) / (x + 1/(x + 2/(x + 3/(x + ...)))) (Laplace).
 */
function upperTail(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (x > 40) return 0;
  if (x >= 3) {
    let fraction = 0;
    for (let term = 60; term >= 1; term--) fraction = term / (x + fraction);
    return normalDensity(x) / (x + fraction);
  }
  let [sum, term, divisor] = [x, x, 1];
  while (term > sum * 1e-17) {
    divisor += 2;
    term *= x ** 2 / divisor;
    sum += term;
  }
  return 0.5 - normalDensity(x) * sum;
}
