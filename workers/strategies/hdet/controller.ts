import { Generator } from '../../random/index.ts';

/** A scalar that the ranks hold different values of. */
interface DivergentScalar {
  /** Its name within the run, e.g. `learning_rate/head`. */
  name: string;
  /** What the ranks' values spread around. */
  base: number;
  velocity: number;
  /** Index into the multipliers, by rank. */
  multiplierOfRank: number[];
}

export interface ControllerOptions {
  /** α: how far the outermost ranks are from the base, as a fraction of it. */
  spread: number;
  /** σ: difference of losses that makes a rank count e times as much as another. */
  lossScale: number;
  /** λ: share of the velocity that a base takes. */
  adaptation: number;
  /** β: share of a velocity that stays. */
  inertia: number;
  worldSize: number;
  /** The seed that all ranks share. */
  seed: number;
}

/** What a resumed run needs. Plain data. */
export interface ControllerState {
  syncs: number;
  scalars: DivergentScalar[];
}

/** Where a base is led at each sync. */
export interface Course {
  /** γ: the share that it loses. */
  decay: number;
  /** It does not fall below. The velocity outlives what it was learned from, and would carry a small base past 0. */
  floor: number;
}

/** What a sync did to one scalar. */
export interface Adaptation {
  name: string;
  base: number;
  velocity: number;
}

/**
 * Learns scalars from ranks that train with different values of them, as hyperparameter-divergent ensemble training has it: every
 * rank runs the same controller on the same numbers, so nothing of it is exchanged. Rank r's value is base·ρ of its multiplier;
 * at a sync, with the weights w of the ranks ({@link weightsOfRanks}),
 *
 *     δ = Σ_r w_r·value_r − mean_r value_r;   v ← β·v + (1 − β)·δ;   base ← max(floor, base·(1 − γ) + λ·v)
 *
 * and every scalar gets a fresh permutation of the multipliers, independent of the others'.
 */
export class HdetController {
  readonly #options: ControllerOptions;
  readonly #multipliers: readonly number[];
  #state: ControllerState;

  constructor(options: ControllerOptions, bases: ReadonlyMap<string, number>) {
    this.#options = options;
    this.#multipliers = spreadMultipliers(options.spread, options.worldSize);
    const inOrder = this.#multipliers.map((_, rank) => rank);
    this.#state = {
      syncs: 0,
      scalars: [...bases].map(([name, base]) => ({ name, base, velocity: 0, multiplierOfRank: inOrder })),
    };
  }

  get state(): ControllerState {
    return this.#state;
  }

  /** @throws when the state is of other scalars or of another number of ranks */
  restore(state: ControllerState): void {
    const names = (of: ControllerState) => of.scalars.map(({ name }) => name).join(', ');
    const fits = state.scalars.every(({ multiplierOfRank }) => multiplierOfRank.length === this.#multipliers.length);
    if (names(state) !== names(this.#state) || !fits) {
      throw new Error(
        `The saved state is of ${names(state)}, this run diverges in ${names(this.#state)} over ${this.#multipliers.length} ranks. ` +
          'Resume with the strategy options that the run was started with.',
      );
    }
    this.#state = state;
  }

  /** ρ of a rank for a scalar. */
  multiplier(name: string, rankIndex: number): number {
    return this.#multipliers[this.#scalar(name).multiplierOfRank[rankIndex]];
  }

  /** base·ρ of a rank. */
  value(name: string, rankIndex: number): number {
    return this.#scalar(name).base * this.multiplier(name, rankIndex);
  }

  base(name: string): number {
    return this.#scalar(name).base;
  }

  /** Sets what a scalar spreads around, where that is decided elsewhere: by a schedule, before it adapts. */
  setBase(name: string, base: number): void {
    this.#scalar(name).base = base;
  }

  /**
   * Moves every base towards the values of the ranks that did well, then deals the multipliers anew.
   *
   * @param losses mean loss of each rank since the last sync, shape `[N]`
   * @param courseOf by name of the scalar
   */
  sync(losses: readonly number[], courseOf: (name: string) => Course): Adaptation[] {
    const { lossScale, adaptation, inertia, worldSize, seed } = this.#options;
    const weights = weightsOfRanks(losses, lossScale);
    const syncs = this.#state.syncs + 1;
    const scalars = this.#state.scalars.map(({ name, base, velocity, multiplierOfRank: dealt }) => {
      const values = dealt.map((index) => base * this.#multipliers[index]);
      const mean = values.reduce((sum, value) => sum + value, 0) / worldSize;
      const delta = values.reduce((sum, value, rank) => sum + weights[rank] * value, 0) - mean;
      const { decay, floor } = courseOf(name);
      const faster = inertia * velocity + (1 - inertia) * delta;
      return {
        name,
        base: Math.max(floor, base * (1 - decay) + adaptation * faster),
        velocity: faster,
        multiplierOfRank: multiplierOfRank(seed, syncs, name, worldSize),
      };
    });
    this.#state = { syncs, scalars };
    return scalars.map(({ name, base, velocity }) => ({ name, base, velocity }));
  }

  #scalar(name: string): DivergentScalar {
    const scalar = this.#state.scalars.find((other) => other.name === name);
    if (scalar !== undefined) return scalar;
    const known = this.#state.scalars.map((other) => other.name).join(', ');
    throw new Error(`"${name}" does not diverge in this run; what does: ${known || 'nothing'}.`);
  }
}

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
