import { Generator } from '../../random/generator.ts';
import { chooseFronts } from '../pareto/subset.ts';
import type { Space, SpaceParameter } from '../space/space.ts';
import { type Direction, lossesOf, type Trial } from '../trial.ts';
import { massBetween } from '../../numeric/normal.ts';
import { type Domain, levelOf, levelsOf, type NumericDomain, type ParameterValue } from '../space/domain.ts';

/** Places of the grid of a continuous parameter. */
const gridPlaces = 50;
/** A kernel with this deviation has nine tenths of its mass in its own place. */
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

export interface ImportanceSettings {
  /** The share of the best trials whose values are compared: 0.1 asks what matters for the best tenth. */
  target: number;
  /** The share of the best trials that they are compared with: 1 is the whole space. */
  region: number;
}

/** Trials that a parameter must have had a part in. */
const leastTrials = 2;

/**
 * The importance of each parameter for being among the best trials: the Pearson divergence Σ q (p/q - 1)² of the
 * density p of its values among the best from that among all, q, both on a grid. A parameter with a condition counts by
 * the trials in which it took part. Not normalized; the largest first.
 *
 * Source: Watanabe, Bansal and Hutter, "PED-ANOVA: efficiently quantifying hyperparameter importance in arbitrary
 * subspaces", 2023; for conditions "Conditional PED-ANOVA", 2026.
 */
export function parameterImportance(
  space: Space,
  trials: readonly Trial[],
  directions: readonly Direction[],
  { target, region }: ImportanceSettings = { target: 0.1, region: 1 },
): { path: string; importance: number }[] {
  const scored = trials
    .filter(({ state }) => state === 'complete')
    .map((trial) => ({ trial, losses: lossesOf(trial, directions) }))
    .filter(({ losses }) => losses.every(Number.isFinite));
  const all = scored.map(({ losses }) => losses);
  const pick = (share: number): Trial[] => bestRows(all, share).map((row) => scored[row].trial);
  const [best, around] = scored.length < leastTrials ? [[], []] : [pick(target), pick(region)];
  return space
    .map((parameter) => ({ path: parameter.path, importance: importanceOf(parameter, best, around) }))
    .toSorted((left, right) => right.importance - left.importance);
}

/** The rows of the best share; of one objective with all that equal the last. */
function bestRows(losses: readonly (readonly number[])[], share: number): number[] {
  const rows = losses.map((_, row) => row);
  const count = Math.ceil(share * losses.length);
  if (share === 1) return rows;
  if (losses[0].length > 1) return chooseFronts(losses, count);
  const sorted = losses.map(([loss]) => loss).toSorted((left, right) => left - right);
  return rows.filter((row) => losses[row][0] <= sorted[count - 1]);
}

function importanceOf({ path, domain }: SpaceParameter, best: readonly Trial[], around: readonly Trial[]): number {
  const values = (trials: readonly Trial[]): Trial['values'][string][] =>
    trials.flatMap((trial) => (Object.hasOwn(trial.values, path) ? [trial.values[path]] : []));
  const [bestValues, allValues] = [values(best), values(around)];
  if (bestValues.length === 0 || allValues.length < leastTrials) return 0;
  const [top, local] = [gridDensity(domain, bestValues), gridDensity(domain, allValues)];
  const divergence = local.reduce((sum, density, place) => {
    const base = density + 1e-12;
    return sum + base * ((top[place] + 1e-12) / base - 1) ** 2;
  }, 0);
  const [inBest, inAll] = [bestValues.length / best.length, allValues.length / around.length];
  return (inBest ** 2 / inAll) * divergence * (best.length / around.length) ** 2;
}

/** Fewer complete trials say nothing of what matters. */
export const leastForImportance = 10;
/** With fewer trials the best tenth is so small that the leading parameter is often chance. */
const enoughForImportance = 30;
/** Bootstrap samples: of many trials fewer, so that pages stay quick. Their intervals are narrow. */
const resamplesOf = (trials: number): number => Math.min(Math.max(Math.round(200_000 / trials), 40), 200);

/** What matters for being among the best tenth, as a share of all parameters. */
export interface ImportanceReport {
  /** Number of complete trials with a finite value. */
  trials: number;
  /**
   * The largest first, each with the ends of its 95 % interval; empty with fewer trials than
   * {@link leastForImportance}.
   */
  parameters: { path: string; share: number; low: number; high: number }[];
  /** Why the shares say little; null with enough trials. */
  note: string | null;
}

/**
 * The importance of each parameter for one objective as a share of the sum, with the 95 % percentile interval of up to
 * 200 bootstrap samples of the trials, which are the same for the same trials. The interval contains the share.
 *
 * Source: Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapter 13.
 *
 * @param objective which of the objectives, and what is better
 */
export function importanceReport(
  space: Space,
  trials: readonly Trial[],
  { index, direction }: { index: number; direction: Direction },
): ImportanceReport {
  const scored = trials
    .filter(({ state, objectives }) => state === 'complete' && Number.isFinite(objectives?.[index] ?? NaN))
    .map((trial) => ({ ...trial, objectives: trial.objectives?.slice(index, index + 1) ?? null }))
    .toSorted((left, right) => left.number - right.number);
  const count = scored.length;
  if (count < leastForImportance) {
    const note = `The importance of parameters needs ${leastForImportance} complete trials; there are ${count}.`;
    return { trials: count, parameters: [], note };
  }
  const generator = new Generator(0, 'search/importance');
  const drawn = Array.from({ length: resamplesOf(count) }, () =>
    sharesOf(
      space,
      Array.from({ length: count }, () => scored[generator.integer(count)]),
      direction,
    ),
  );
  const parameters = [...sharesOf(space, scored, direction)].map(([path, share]) => {
    const values = drawn.map((shares) => shares.get(path) ?? 0).toSorted((left, right) => left - right);
    // This many values lie outside on either side: 5 of 200.
    const outside = Math.floor(values.length / 40);
    return {
      path,
      share,
      low: Math.min(share, values[outside]),
      high: Math.max(share, values[values.length - 1 - outside]),
    };
  });
  return { trials: count, parameters, note: count < enoughForImportance ? noteOfFew(count) : null };
}

function noteOfFew(count: number): string {
  const best = Math.ceil(count / 10);
  return (
    `With ${count} complete trials the best tenth is ${best === 1 ? 'one trial' : `${best} trials`}, so the shares ` +
    `may be chance: look at their intervals, and try at least ${enoughForImportance} trials.`
  );
}

/** The importance by path, the largest first. All sum to 1, or are 0 where no parameter matters. */
function sharesOf(space: Space, trials: readonly Trial[], direction: Direction): Map<string, number> {
  const found = parameterImportance(space, trials, [direction]);
  const sum = found.reduce((total, { importance }) => total + importance, 0);
  return new Map(found.map(({ path, importance }) => [path, sum > 0 ? importance / sum : 0]));
}
