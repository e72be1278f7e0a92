import { massBetween } from '../../numeric/normal.ts';
import { levelOf, levelsOf, type Domain, type NumericDomain } from '../space/domain.ts';
import type { ParameterValue } from '../space/parameter.ts';

/** Places of the grid of a continuous parameter. */
const gridPlaces = 50;
/** With this deviation nine tenths of a kernel's mass lie in its own place. */
const narrowest = 0.5 / 1.64;

/**
 * The density of values over the places of a grid, by kernels with Scott's deviation, 1.059 min(IQR / 1.34, σ) n^-1/5,
 * and one even kernel for the prior. Choices are places by themselves.
 *
 * Source: Scott, "Multivariate density estimation", 1992; Watanabe et al., "PED-ANOVA", 2023, appendix.
 *
 * @param values at least one
 * @returns shape [places]
 */
export function gridDensity(domain: Domain, values: readonly ParameterValue[]): Float64Array {
  const counts = countPlaces(domain, values);
  const observed = [...counts.keys()].filter((place) => counts[place] > 0);
  const weights = observed.map((place) => counts[place]);
  return domain.kind === 'choice' ? choiceDensity(counts, observed) : numericDensity(counts.length, observed, weights);
}

function countPlaces(domain: Domain, values: readonly ParameterValue[]): Float64Array {
  if (domain.kind === 'choice') {
    const counts = new Float64Array(domain.choices.length);
    for (const value of values) counts[levelOf(domain, value)]++;
    return counts;
  }
  const counts = new Float64Array(placesOf(domain));
  const onScale = (value: number): number => (domain.log ? Math.log(value) : value);
  const width = (onScale(domain.high) - onScale(domain.low)) / (counts.length - 1);
  for (const value of values) {
    // Ties go to the lower place, as in Optuna.
    const place = Math.ceil((onScale(Number(value)) - onScale(domain.low)) / width - 0.5);
    counts[Math.min(Math.max(place, 0), counts.length - 1)]++;
  }
  return counts;
}

function placesOf(domain: NumericDomain): number {
  const levels = levelsOf(domain);
  if (levels === null) return gridPlaces;
  return Math.min(domain.log ? Math.ceil(Math.log2(domain.high - domain.low + 1)) + 1 : levels, gridPlaces);
}

function choiceDensity(counts: Float64Array, observed: readonly number[]): Float64Array {
  const even = 1 / (observed.length + 1);
  const sum = counts.reduce((total, count) => total + count, 1);
  const normalizer = 1 + counts.length * even;
  const shared = ((sum - 1) * even) / normalizer + 1 / counts.length;
  return counts.map((count) => (shared + count / normalizer) / sum);
}

function numericDensity(places: number, observed: readonly number[], weights: readonly number[]): Float64Array {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const deviation = scottDeviation(observed, weights, sum);
  const density = new Float64Array(places);
  const add = (mean: number, deviation: number, weight: number, massAt: (place: number) => number): void => {
    const share = weight / massBetween((-0.5 - mean) / deviation, (places - 0.5 - mean) / deviation);
    for (let place = 0; place < places; place++) density[place] += share * massAt(place);
  };
  const massAround = (distance: number, width: number): number =>
    massBetween((distance - 0.5) / width, (distance + 0.5) / width);
  // All kernels have the same form, which only the distance of two places decides.
  const masses = Float64Array.from({ length: 2 * places - 1 }, (_, index) => massAround(index - places + 1, deviation));
  for (const [index, mean] of observed.entries())
    add(mean, deviation, weights[index] / (sum + 1), (place) => masses[place - mean + places - 1]);
  const middle = (places - 1) / 2;
  add(middle, places, 1 / (sum + 1), (place) => massAround(place - middle, places));
  return density;
}

function scottDeviation(observed: readonly number[], weights: readonly number[], sum: number): number {
  const mean = observed.reduce((total, place, index) => total + place * weights[index], 0) / sum;
  const squares = observed.reduce((total, place, index) => total + weights[index] * (place - mean) ** 2, 0);
  const spread = Math.sqrt(squares / Math.max(1, sum - 1));
  let reached = 0;
  const cumulative = weights.map((weight) => (reached += weight));
  const lower = cumulative.findIndex((count) => count >= Math.floor(sum / 4));
  const upper = cumulative.findIndex((count) => count > Math.floor((sum * 3) / 4));
  const quartiles = observed[upper === -1 ? observed.length - 1 : upper] - observed[lower];
  return Math.max(1.059 * Math.min(quartiles / 1.34, spread) * sum ** -0.2, narrowest);
}
