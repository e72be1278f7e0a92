import { Generator, type GeneratorState, installAsMathRandom, seedForRank } from '../random/index.ts';
import type { Callback } from './callback.ts';

/**
 * Seeds a rank with base seed + rank, so that members diverge, or all ranks with the base seed (`unique: false`, for
 * ablations and debugging). TensorFlow.js draws the seeds of initializers and dropout from `Math.random`, so the seeder
 * replaces `Math.random` by a stream of this rank's generator. Construct it before you build the model.
 */
export class DistributedSeeder implements Callback {
  readonly name = 'distributed-seeder';
  readonly isOfRank = true;
  /** The rank's seed. */
  readonly seed: number;
  private readonly generator: Generator;

  /**
   * @param options - the seeds
   * @param options.baseSeed - seed of the run, an integer in [0, 2^32)
   * @param options.rank - this rank
   * @param options.unique - false: all ranks use the base seed
   */
  constructor(options: { baseSeed: number; rank: number; unique?: boolean }) {
    this.seed = seedForRank(options.baseSeed, options.rank, options.unique === false);
    this.generator = new Generator(this.seed, 'member');
    this.install();
  }

  /** Makes `Math.random` draw from this rank's stream from now on. */
  install(): void {
    installAsMathRandom(this.generator);
  }

  /** Runs `body` while `Math.random` draws from this rank's stream, in a process that has several ranks. */
  readonly draw = <T>(body: () => T): T => {
    const restore = installAsMathRandom(this.generator);
    try {
      return body();
    } finally {
      restore();
    }
  };

  state(): GeneratorState {
    return this.generator.state();
  }

  restore(state: unknown): void {
    this.generator.restore(state as GeneratorState);
  }
}
