import { Generator } from '../../random/index.ts';

/**
 * Multipliers that spread a scalar over N ranks, evenly around 1: ρ_i = 1 + α·(i − (N−1)/2)/max((N−1)/2, 1/2). Their mean is 1, and
 * all are 1 where α = 0 or N = 1.
 *
 * @returns shape `[N]`, ascending
 */
export function spreadMultipliers(alpha: number, worldSize: number): number[] {
  const middle = (worldSize - 1) / 2;
  return Array.from({ length: worldSize }, (_, i) => 1 + (alpha * (i - middle)) / Math.max(middle, 0.5));
}

/** Which multiplier each rank has after a sync, the same on all ranks: a pure function of the seed they share. */
export function multiplierOfRank(seed: number, sync: number, scalar: string, worldSize: number): number[] {
  return [...new Generator(seed, `hdet/sync-${sync}/${scalar}`).permutation(worldSize)];
}

/**
 * How much each rank's setting counts: softmax over the ranks of (mean loss − loss)/σ. A rank whose loss is not finite counts
 * nothing; where none is finite all count the same.
 *
 * @param losses mean loss of each rank since the last sync, shape `[N]`
 * @returns shape `[N]`, with the sum 1
 */
export function weightsOfRanks(losses: readonly number[], sigma: number): number[] {
  const finite = losses.filter((loss) => Number.isFinite(loss));
  if (finite.length === 0) return losses.map(() => 1 / losses.length);
  const mean = finite.reduce((sum, loss) => sum + loss, 0) / finite.length;
  const best = Math.min(...finite);
  // Taking the best rank's exponent off all of them leaves the softmax as it is, and none can overflow.
  const powers = losses.map((loss) =>
    Number.isFinite(loss) ? Math.exp((mean - loss) / sigma - (mean - best) / sigma) : 0,
  );
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** The γ with base·(1 − γ)^syncs = floor. 0 where the base is there already. */
export function decayTo(floor: number, base: number, syncs: number): number {
  return base <= floor ? 0 : 1 - (floor / base) ** (1 / Math.max(1, syncs));
}
