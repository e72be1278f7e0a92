import type { Generator } from './generator.ts';

/**
 * Replaces `Math.random` with the generator's stream until the returned function is called.
 *
 * TensorFlow.js draws the seed of each initializer and of each dropout mask from `Math.random`, unless one is given. Explicit
 * seeds would not work: a project's `model()` creates its layers, and a dropout layer with a fixed seed repeats the same mask at
 * every step. A seeded `Math.random` makes all of them reproducible, and the generator's state resumes them exactly.
 *
 * @returns a function that restores the previous `Math.random`
 */
export function installAsMathRandom(generator: Generator): () => void {
  const replaced = Math.random;
  Math.random = () => generator.uniform();
  return () => {
    Math.random = replaced;
  };
}

/**
 * Runs the body with `Math.random` drawing from the generator, then restores the original, also after an error. The process has
 * only one `Math.random`: no other code should draw from it meanwhile.
 */
export async function withSeededMathRandom<T>(generator: Generator, body: () => T | Promise<T>): Promise<T> {
  const restore = installAsMathRandom(generator);
  try {
    return await body();
  } finally {
    restore();
  }
}
