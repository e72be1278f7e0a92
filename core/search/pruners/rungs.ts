import type { RungPruner } from './settings.ts';

/** Trials that begin at one rung: a round of successive halving. */
export interface Bracket {
  /** Trials that begin. */
  trials: number;
  /** Steps at which trials pause, ascending; the last is a whole trial. */
  rungs: readonly number[];
}

/**
 * The brackets that a pruner runs in turn. Hyperband has s_max + 1 of them, s_max = ⌊log_η(R / r)⌋, with
 * ⌈(s_max + 1) η^s / (s + 1)⌉ trials that begin with R η^-s steps, for s from s_max down to 0.
 *
 * Source: Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", 2016 (successive halving); Li et al.,
 * "Hyperband", 2018; Li et al., "A system for massively parallel hyperparameter tuning", 2020 (ASHA).
 */
export function bracketsOf(pruner: RungPruner): Bracket[] {
  const { minimumResource, maximumResource, reductionFactor } = pruner;
  // log(243) / log(3) is below 5 in binary.
  const deepest = Math.floor(Math.log(maximumResource / minimumResource) / Math.log(reductionFactor) + 1e-9);
  if (pruner.kind !== 'hyperband') {
    const trials = pruner.kind === 'halving' ? pruner.trials : Infinity;
    return [{ trials, rungs: rungsFrom(Math.max(deepest, 0), pruner) }];
  }
  return Array.from({ length: Math.max(deepest, 0) + 1 }, (_, index) => {
    const depth = deepest - index;
    const trials = Math.ceil(((deepest + 1) * reductionFactor ** depth) / (depth + 1));
    return { trials, rungs: rungsFrom(depth, pruner) };
  });
}

/** The last `depth` + 1 rungs, each rounded to whole steps. */
function rungsFrom(depth: number, { maximumResource, reductionFactor }: RungPruner): number[] {
  return Array.from({ length: depth + 1 }, (_, rung) =>
    Math.max(1, Math.round(maximumResource / reductionFactor ** (depth - rung))),
  );
}

/** Where a trial belongs: brackets follow each other and begin again after the last. */
export function placeOf(number: number, brackets: readonly Bracket[]): { bracket: number; round: number } {
  const whole = brackets.reduce((sum, { trials }) => sum + trials, 0);
  if (whole === Infinity) return { bracket: 0, round: 0 };
  let rest = number % whole;
  const bracket = brackets.findIndex(({ trials }) => {
    rest -= trials;
    return rest < 0;
  });
  return { bracket, round: Math.floor(number / whole) };
}
