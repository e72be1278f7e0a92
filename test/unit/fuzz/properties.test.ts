import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { examine } from '../../fuzz/engine/judge.ts';
import { cross, mutate } from '../../fuzz/engine/mutate.ts';
import { Random } from '../../fuzz/engine/random.ts';
import { allTargets } from '../../fuzz/targets/index.ts';

/**
 * The quick form of `npm run fuzz`: mutations of valid inputs, drawn with a fixed seed; without the guidance of
 * coverage.
 */
const draws = 60;
const targets = await allTargets();

afterAll(async () => {
  for (const { target } of targets) await target.close?.();
});

/**
 * One mutated input: which valid inputs it comes from, and the seed of the mutations. fast-check finds the smallest of
 * both.
 */
const origin = fc.record({ first: fc.nat(), second: fc.nat(), isCrossed: fc.boolean(), seed: fc.nat() });

describe('every reader', () => {
  it.each(targets)('reads its valid inputs, and accepts or refuses changed ones: $target.name', async ({ target }) => {
    const seeds = (await target.seeds()).map((bytes) => Buffer.from(bytes));
    for (const bytes of seeds) expect(await examine(target, bytes)).toBeNull();
    const property = fc.asyncProperty(origin, async ({ first, second, isCrossed, seed }) => {
      const random = new Random(seed);
      const parent = seeds[first % seeds.length];
      const base = isCrossed ? cross(parent, seeds[second % seeds.length], random) : parent;
      expect(await examine(target, mutate(base, random, target.maximumBytes))).toBeNull();
    });
    await fc.assert(property, { seed: 20_261_122, numRuns: Math.ceil(draws * Math.min(1, target.weight)) });
  });
});
