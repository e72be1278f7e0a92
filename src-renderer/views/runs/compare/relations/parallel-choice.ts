import type { SubjectAxis } from './option-axes.ts';

/** More axes than this are hard to read; a menu adds others. */
const usualOptions = 5;
const usualResults = 2;

/**
 * The axes of the parallel coordinates: those of the address, or the first options and results. Options come before
 * results.
 */
export function chosenAxes(
  asked: readonly string[],
  options: readonly SubjectAxis[],
  results: readonly SubjectAxis[],
): SubjectAxis[] {
  const named = [...options, ...results].filter(({ id }) => asked.includes(id));
  return named.length > 0 ? named : [...options.slice(0, usualOptions), ...results.slice(0, usualResults)];
}
