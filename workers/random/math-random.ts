import type { Generator } from '../../core/random/generator.ts';

/**
 * Replaces `Math.random` with the generator's stream until the returned function is called.
 *
 * TensorFlow.js draws the seed of each initializer and of each dropout mask from `Math.random`, unless one is given.
 * Explicit seeds would not work: a project's `model()` creates its layers, and a dropout layer with a fixed seed
 * repeats the same mask at every step. A seeded `Math.random` makes all of them reproducible, and the generator's state
 * resumes them exactly.
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
 * Runs the body with `Math.random` drawing from the generator, then restores the original, also after an error. The
 * process has only one `Math.random`: no other code should draw from it meanwhile.
 */
export async function withSeededMathRandom<T>(generator: Generator, body: () => T | Promise<T>): Promise<T> {
  const restore = installAsMathRandom(generator);
  try {
    return await body();
  } finally {
    restore();
  }
}

/**
 * Runs the body, and records what it drew from `Math.random`.
 * @param replayed an earlier record, which the body draws again
 * @throws Error when the body draws more numbers than were recorded
 */
export function recordDraws<T>(body: () => T, replayed: readonly number[] | null): { result: T; draws: number[] } {
  const original = Math.random;
  const draws: number[] = [];
  Math.random = () => {
    const draw = replayed === null ? original() : replayed[draws.length];
    if (draw === undefined) {
      throw new Error(
        `The model draws more than the ${draws.length} random numbers of its saved forward pass: it was changed. ` +
          'Resume the run with the project that it was started with.',
      );
    }
    draws.push(draw);
    return draw;
  };
  try {
    return { result: body(), draws };
  } finally {
    Math.random = original;
  }
}
