import { normalDistribution } from '../../../core/numeric/normal.ts';

/**
 * The p-value of the hypothesis that `values` are not larger than `others`, by the Mann-Whitney test in normal
 * approximation without ties: the probability to see ranks this high by chance.
 */
export function chanceOfLarger(values: readonly number[], others: readonly number[]): number {
  const wins = values.reduce((sum, value) => sum + others.filter((other) => other < value).length, 0);
  const product = values.length * others.length;
  const deviation = Math.sqrt((product * (values.length + others.length + 1)) / 12);
  return normalDistribution(-(wins - product / 2) / deviation);
}
