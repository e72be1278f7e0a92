import { Generator } from '../random/generator.ts';

/** Candidates that charts of a pool show at most, beside the chosen ones. */
export const sampleSize = 3000;

/** The candidates of a pool that charts show: all, or a sample of them at random, ascending. The same search has the same sample in all rounds. */
export function sampleOfPool(candidates: number, seed: number): Int32Array {
  const all = Int32Array.from({ length: candidates }, (_, i) => i);
  if (candidates <= sampleSize) return all;
  return new Generator(seed, 'discovery sample').permutation(candidates).slice(0, sampleSize).sort();
}
