/** Σ cₖ xᵏ by Horner's rule, for coefficients from the constant term upwards. */
export function polynomial(coefficients: readonly number[], x: number): number {
  let sum = 0;
  for (let index = coefficients.length - 1; index >= 0; index--) sum = sum * x + coefficients[index];
  return sum;
}
