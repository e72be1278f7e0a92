import { chooseFronts } from '../pareto/choose-fronts.ts';
import type { Space, SpaceParameter } from '../space/space.ts';
import { lossesOf, type Direction, type Trial } from '../trial.ts';
import { gridDensity } from './grid-density.ts';

export interface ImportanceSettings {
  /** The share of the best trials whose values are compared: 0.1 asks what matters for the best tenth. */
  target: number;
  /** The share of the best trials that they are compared with: 1 is the whole space. */
  region: number;
}

/** Trials that a parameter must have had a part in. */
const leastTrials = 2;

/**
 * The importance of each parameter for being among the best trials: the Pearson divergence Σ q (p/q - 1)² of the density p of its values among the best
 * from that among all, q, both on a grid. A parameter with a condition counts by the trials in which it took part. Not normalized; the largest first.
 *
 * Source: Watanabe, Bansal and Hutter, "PED-ANOVA: efficiently quantifying hyperparameter importance in arbitrary subspaces", 2023; for conditions
 * "Conditional PED-ANOVA", 2026.
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
