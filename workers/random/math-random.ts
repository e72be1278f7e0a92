import type { Generator } from './generator.ts';

/**
 * Replaces `Math.random` with the generator's stream until the returned function is called.
 *
 * TensorFlow.js draws the seed of each initializer and of each dropout mask from `Math.random` when none is given. To
 * give seeds instead would not do: a project's `model()` creates its layers itself, and a dropout layer with a seed of
 * its own repeats the same mask at every step. A seeded `Math.random` makes all of them reproducible, and the
 * generator's state resumes them exactly.
 *
 * @returns puts back what was there before
 */
export function installAsMathRandom(generator: Generator): () => void {
  const replaced = Math.random;
  Math.random = () => generator.uniform();
  return () => {
    Math.random = replaced;
  };
}

/**
 * Runs the body with `Math.random` drawing from the generator, and puts the original back whether it succeeds or
 * throws. `Math.random` is one per process: nothing else should run meanwhile that draws from it.
 */
export async function withSeededMathRandom<T>(generator: Generator, body: () => T | Promise<T>): Promise<T> {
  const restore = installAsMathRandom(generator);
  try {
    return await body();
  } finally {
    restore();
  }
}
