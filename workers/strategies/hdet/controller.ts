import { Generator } from '../../random/index.ts';

/** A scalar with different values on the ranks. */
interface DivergentScalar {
  /** Its name within the run, e.g. `learning_rate/head`. */
  name: string;
  /** The centre of the ranks' values. */
  base: number;
  velocity: number;
  /** Index into the multipliers, by rank. */
  multiplierOfRank: number[];
}

export interface ControllerOptions {
  /** α: the distance of the outermost ranks from the base, as a fraction of it. */
  spread: number;
  /** σ: the difference of losses that makes a rank's weight e times that of another. */
  lossScale: number;
  /** λ: the factor of the velocity in an update of a base. */
  adaptation: number;
  /** β: the factor of the old velocity in the new one. */
  inertia: number;
  worldSize: number;
  /** The run's seed, the same on all ranks. */
  seed: number;
}

/** The state for a resume, as plain data. */
export interface ControllerState {
  syncs: number;
  scalars: DivergentScalar[];
}

/** How a base changes at each sync, besides its velocity. */
export interface Course {
  /** γ: the fraction that it loses. */
  decay: number;
  /** Its lower bound. The velocity persists, and could otherwise carry a small base below 0. */
  floor: number;
}

/** The effect of a sync on one scalar. */
export interface Adaptation {
  name: string;
  base: number;
  velocity: number;
}

/**
 * Learns scalars from ranks that train with different values of them (hyperparameter-divergent ensemble training).
 * Every rank runs the same controller on the same numbers, so its state is not exchanged. Rank r's value is base·ρ_r
 * with its multiplier ρ_r. At a sync, with the weights w of the ranks ({@link weightsOfRanks}),
 *
 *     δ = Σ_r w_r·value_r − mean_r value_r;   v ← β·v + (1 − β)·δ;   base ← max(floor, base·(1 − γ) + λ·v)
 *
 * and every scalar gets a new permutation of the multipliers, independent of the others.
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

  /** @throws when the state has other scalars or another number of ranks */
  restore(state: ControllerState): void {
    const names = (of: ControllerState) => of.scalars.map(({ name }) => name).join(', ');
    const fits = state.scalars.every(({ multiplierOfRank }) => multiplierOfRank.length === this.#multipliers.length);
    if (names(state) !== names(this.#state) || !fits) {
      throw new Error(
        `The saved state diverges in ${names(state)}, this run in ${names(this.#state)} over ` +
          `${this.#multipliers.length} ranks. Resume with the strategy options of the original run.`,
      );
    }
    this.#state = state;
  }

  /** A rank's ρ for a scalar. */
  multiplier(name: string, rankIndex: number): number {
    return this.#multipliers[this.#scalar(name).multiplierOfRank[rankIndex]];
  }

  /** A rank's base·ρ. */
  value(name: string, rankIndex: number): number {
    return this.#scalar(name).base * this.multiplier(name, rankIndex);
  }

  base(name: string): number {
    return this.#scalar(name).base;
  }

  /** Sets a scalar's base from a schedule, before it adapts. */
  setBase(name: string, base: number): void {
    this.#scalar(name).base = base;
  }

  /**
   * Moves every base towards the values of ranks with low losses, then permutes the multipliers.
   *
   * @param losses mean loss of each rank since the last sync, shape `[N]`
   * @param courseOf by name of the scalar
   */
  sync(losses: readonly number[], courseOf: (name: string) => Course): Adaptation[] {
    const { lossScale, adaptation, inertia, worldSize, seed } = this.#options;
    const weights = weightsOfRanks(losses, lossScale);
    const syncs = this.#state.syncs + 1;
    const scalars = this.#state.scalars.map(({ name, base, velocity, multiplierOfRank: indices }) => {
      const values = indices.map((index) => base * this.#multipliers[index]);
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
    throw new Error(`"${name}" does not diverge in this run. These do: ${known || 'none'}.`);
  }
}

/**
 * Multipliers that spread a scalar over N ranks, evenly around 1: ρ_i = 1 + α·(i − (N−1)/2)/max((N−1)/2, 1/2). Their
 * mean is 1, and all are 1 where α = 0 or N = 1.
 *
 * @returns shape `[N]`, ascending
 */
export function spreadMultipliers(alpha: number, worldSize: number): number[] {
  const middle = (worldSize - 1) / 2;
  return Array.from({ length: worldSize }, (_, i) => 1 + (alpha * (i - middle)) / Math.max(middle, 0.5));
}

/** Each rank's multiplier after a sync, as an index; the same on all ranks, as it depends on the run's seed alone. */
export function multiplierOfRank(seed: number, sync: number, scalar: string, worldSize: number): number[] {
  return [...new Generator(seed, `hdet/sync-${sync}/${scalar}`).permutation(worldSize)];
}

/**
 * The weight of each rank's setting: softmax over the ranks of (mean loss − loss)/σ. A rank with a non-finite loss has
 * weight 0; if no loss is finite, all have the same weight.
 *
 * @param losses mean loss of each rank since the last sync, shape `[N]`
 * @returns shape `[N]`, with the sum 1
 */
export function weightsOfRanks(losses: readonly number[], sigma: number): number[] {
  const finite = losses.filter((loss) => Number.isFinite(loss));
  if (finite.length === 0) return losses.map(() => 1 / losses.length);
  const mean = finite.reduce((sum, loss) => sum + loss, 0) / finite.length;
  const best = Math.min(...finite);
  // Subtracting the best rank's exponent does not change the softmax, and prevents overflow.
  const powers = losses.map((loss) =>
    Number.isFinite(loss) ? Math.exp((mean - loss) / sigma - (mean - best) / sigma) : 0,
  );
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}
