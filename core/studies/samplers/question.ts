import { Generator } from '../../random/generator.ts';
import type { Space } from '../space/space.ts';
import type { Direction, Trial } from '../trial.ts';

/**
 * What a sampler may know. A suggestion is a function of this alone, so a resumed study that shows a sampler the same
 * trials gets the same suggestions, bit for bit.
 */
export interface Question {
  space: Space;
  /** One for each objective. */
  directions: readonly Direction[];
  /** An integer in [0, 2^32). */
  seed: number;
  /** The trials suggested so far, in any order. */
  trials: readonly Trial[];
  /** The number of the trial to suggest, from 0. */
  number: number;
}

/** Random numbers of one sampler for one trial, which no other trial draws. */
export function generatorFor({ seed, number }: Question, sampler: string): Generator {
  return new Generator(seed, `search/${sampler}/${number}`);
}
