import type { WeightDecayTrial } from './study.ts';

/** Which of the trials is best for whom. */
export type Aim = 'ensemble' | 'meanMember';

/** The trial with the least mean MSE over splits. @param splits indices; all by default */
export function bestTrial(trials: readonly WeightDecayTrial[], aim: Aim, splits?: readonly number[]): WeightDecayTrial {
  const error = (trial: WeightDecayTrial): number => meanOf(splits?.map((split) => trial[aim][split]) ?? trial[aim]);
  const [first, ...others] = trials.filter((trial) => Number.isFinite(error(trial)));
  if (first === undefined) throw new Error('No trial has a finite MSE on all splits: raise --trials.');
  return others.reduce((best, trial) => (error(trial) < error(best) ? trial : best), first);
}

/**
 * How much lower the ensemble's MSE is on each split with the weight decay that suits the ensemble than with the one
 * that suits its members, both chosen on the other splits only. Choosing among trials by their own results would favour
 * the ensemble.
 */
export function leftOutGains(trials: readonly WeightDecayTrial[]): number[] {
  const splits = trials[0].ensemble.map((_, split) => split);
  return splits.map((split) => {
    const others = splits.filter((other) => other !== split);
    const [forMembers, forEnsemble] = (['meanMember', 'ensemble'] as const).map((aim) =>
      bestTrial(trials, aim, others),
    );
    return forMembers.ensemble[split] - forEnsemble.ensemble[split];
  });
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The standard error of a mean, s / √n; NaN for fewer than two values. */
export function errorOf(values: readonly number[]): number {
  const mean = meanOf(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return values.length < 2 ? NaN : Math.sqrt(squares / (values.length - 1) / values.length);
}
