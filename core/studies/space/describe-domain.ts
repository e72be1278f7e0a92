import type { Domain } from './domain.ts';

/** The domain as words after "must be": `a number from 0.1 to 1`, `one of relu, tanh`. */
export function describeDomain(domain: Domain): string {
  if (domain.kind === 'choice') return `one of ${domain.choices.join(', ')}`;
  const { low, high, step } = domain;
  if (step === null) return `a number from ${low} to ${high}`;
  if (step === 1 && Number.isInteger(low)) return `a whole number from ${low} to ${high}`;
  return `a number from ${low} to ${high} in steps of ${step}`;
}
