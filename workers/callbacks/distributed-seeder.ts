import { Generator, type GeneratorState, installAsMathRandom, seedForRank } from '../random/index.ts';
import type { Callback } from './callback.ts';

/**
 * Seeds a rank: base seed + rank, so that members diverge, or the base seed itself for all (`unique: false`: ablations,
 * debugging). TensorFlow.js draws the seeds of initializers and dropout from `Math.random`, which therefore becomes a
 * stream of this rank's generator; constructing the seeder comes before building the model.
 */
export class DistributedSeeder implements Callback {
  readonly name = 'distributed-seeder';
  readonly seed: number;
  private readonly generator: Generator;

  constructor(options: { baseSeed: number; rank: number; unique?: boolean }) {
    this.seed = seedForRank(options.baseSeed, options.rank, options.unique === false);
    this.generator = new Generator(this.seed, 'member');
    this.install();
  }

  /** Has `Math.random` draw from this rank's stream from now on. */
  install(): void {
    installAsMathRandom(this.generator);
  }

  /** Runs what draws from `Math.random` with this rank's stream, in a process that has several ranks. */
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
