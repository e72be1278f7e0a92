import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { combinationsOf, gridSize } from '../../../core/studies/samplers/grid.ts';
import {
  scrambledSobolPoint,
  sobolPoint,
  suggestQuasiRandom,
  suggestRandom,
} from '../../../core/studies/samplers/quasi-random.ts';
import { orderSpace } from '../../../core/studies/space/space.ts';
import { readGolden } from '../../golden/read-golden.ts';

const recorded = z
  .object({ sobol: z.object({ first: z.array(z.array(z.number())), last: z.array(z.number()) }) })
  .parse(readGolden('search/statistics.json')).sobol;

const space = orderSpace({
  kind: { kind: 'choice', choices: ['sgd', 'adam'] },
  rate: { kind: 'log', low: 1e-4, high: 1 },
  momentum: { kind: 'step', low: 0, high: 0.9, step: 0.45, when: { path: 'kind', equals: ['sgd'] } },
});
const question = { space, directions: ['minimize' as const], seed: 3, trials: [], number: 0 };

describe('the Sobol sequence', () => {
  it('agrees with SciPy in 128 dimensions', () => {
    expect(recorded.first.map((_, index) => [...sobolPoint(index, 128)])).toEqual(recorded.first);
    expect([...sobolPoint(4095, 128)]).toEqual(recorded.last);
  });

  it('says how many dimensions it has', () =>
    expect(() => sobolPoint(0, 129)).toThrow('129 parameters: the quasi-random sampler takes at most 128'));

  // The first two dimensions form a (0, m, 2)-net: each box of size 2^-i x 2^-(m-i) holds one of 2^m points.
  it('keeps one point in each elementary interval when scrambled', () => {
    const points = Array.from({ length: 64 }, (_, index) => scrambledSobolPoint(index, 2, 11));
    for (let columns = 0; columns <= 6; columns++) {
      const boxes = points.map(([x, y]) => Math.floor(x * 2 ** columns) * 64 + Math.floor(y * 2 ** (6 - columns)));
      expect(new Set(boxes).size).toBe(64);
    }
  });

  it('scrambles differently for another seed, and dimensions independently', () => {
    expect(scrambledSobolPoint(5, 3, 1)).not.toEqual(scrambledSobolPoint(5, 3, 2));
    expect(scrambledSobolPoint(5, 3, 1).subarray(0, 2)).toEqual(scrambledSobolPoint(5, 2, 1));
    const means = [0, 1, 2].map((dimension) => {
      const drawn = Array.from({ length: 400 }, (_, seed) => scrambledSobolPoint(0, 3, seed)[dimension]);
      return drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
    });
    // A uniform mean of 400 draws lies within 5 standard errors, 0.072.
    for (const mean of means) expect(Math.abs(mean - 0.5)).toBeLessThan(0.072);
  });
});

describe('the grid', () => {
  it('lists each combination once, without parameters that take no part', () => {
    expect(gridSize(space, 3)).toBe(3 * 3 + 3);
    const all = [...combinationsOf(space, 3)];
    expect(all[0]).toEqual({ kind: 'sgd', rate: expect.closeTo(1e-4, 12), momentum: 0 });
    expect(all[4]).toEqual({ kind: 'sgd', rate: expect.closeTo(1e-2, 12), momentum: 0.45 });
    expect(all[11]).toEqual({ kind: 'adam', rate: 1 });
    expect(new Set(all.map((values) => JSON.stringify(values))).size).toBe(12);
    expect(all).toHaveLength(12);
  });
});

describe.each([
  ['random', suggestRandom],
  ['quasi-random', suggestQuasiRandom],
])('the %s sampler', (_, suggest) => {
  it('depends on seed and number only', () => {
    expect(suggest({ ...question, number: 7 })).toEqual(suggest({ ...question, number: 7 }));
    expect(suggest({ ...question, number: 7 })).not.toEqual(suggest({ ...question, number: 8 }));
    expect(suggest({ ...question, number: 7 })).not.toEqual(suggest({ ...question, number: 7, seed: 4 }));
  });

  it('covers scales evenly', () => {
    const drawn = Array.from({ length: 512 }, (_, number) => suggest({ ...question, number }));
    const decades = [-4, -3, -2, -1].map(
      (decade) => drawn.filter(({ rate }) => Math.floor(Math.log10(Number(rate))) === decade).length,
    );
    // 128 expected; the deviation of random counts is below 10.
    for (const count of decades) expect(Math.abs(count - 128)).toBeLessThan(50);
    expect(drawn.every(({ kind, momentum }) => (kind === 'sgd') === (momentum !== undefined))).toBe(true);
  });
});
