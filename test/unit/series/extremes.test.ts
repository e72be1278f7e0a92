import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allNumbers, extremesOf, finiteNumbers, positiveNumbers, rangeOf } from '../../../core/series/extremes.ts';

/** Few distinct values, so that equal values, signed zeros, NaN and infinities occur in most draws. */
const value = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(NaN, Infinity, -Infinity, 0, -0, 1e308, -1e308, 5e-324),
  fc.double(),
);
const columns = fc.array(value, { maxLength: 40 }).map((values) => Float64Array.from(values));
const seeded = { seed: 20_250_711, numRuns: 500 };

const countables = [
  [allNumbers, (value: number) => Number.isNaN(value)],
  [finiteNumbers, (value: number) => !Number.isFinite(value)],
  [positiveNumbers, (value: number) => !(value > 0 && value < Infinity)],
] as const;

describe('extremesOf', () => {
  it('returns the first of equal values, and the first gap', () => {
    const values = Float64Array.of(2, NaN, 1, 5, NaN, 1, 5, 3);
    expect(extremesOf(values)).toEqual({ lowest: 2, highest: 3, gap: 1 });
    expect(extremesOf(values, 4, 7)).toEqual({ lowest: 5, highest: 6, gap: 4 });
  });

  it('returns -1 for an extreme that a stretch lacks', () => {
    expect(extremesOf(new Float64Array())).toEqual({ lowest: -1, highest: -1, gap: -1 });
    expect(extremesOf(Float64Array.of(7, 8), 1, 1)).toEqual({ lowest: -1, highest: -1, gap: -1 });
    expect(extremesOf(Float64Array.of(NaN, NaN))).toEqual({ lowest: -1, highest: -1, gap: 0 });
  });

  it('returns a single value as both extremes', () => {
    expect(extremesOf(Float64Array.of(1, 4, 2), 1, 2)).toEqual({ lowest: 1, highest: 1, gap: -1 });
  });

  it('counts infinities as values, or as gaps on request', () => {
    const values = [3, Infinity, -Infinity, 4];
    expect(extremesOf(values)).toEqual({ lowest: 2, highest: 1, gap: -1 });
    expect(extremesOf(values, 0, 4, finiteNumbers)).toEqual({ lowest: 0, highest: 3, gap: 1 });
    expect(extremesOf([-1, 0, 2, 9], 0, 4, positiveNumbers)).toEqual({ lowest: 2, highest: 3, gap: 0 });
  });

  it('agrees with the definition: no other value of the stretch exceeds an extreme, and none before equals it', () => {
    fc.assert(
      fc.property(
        columns,
        fc.nat(40),
        fc.nat(40),
        fc.constantFrom(...countables),
        (values, a, b, [countable, isGap]) => {
          const [start, end] = [Math.min(a, b, values.length), Math.min(Math.max(a, b), values.length)];
          const { lowest, highest, gap } = extremesOf(values, start, end, countable);
          const indices = Array.from({ length: end - start }, (_, offset) => start + offset);
          const counted = indices.filter((index) => !isGap(values[index]));
          const first = (test: (index: number) => boolean): number => counted.find(test) ?? -1;
          expect(gap).toBe(indices.find((index) => isGap(values[index])) ?? -1);
          expect(lowest).toBe(first((index) => counted.every((other) => values[index] <= values[other])));
          expect(highest).toBe(first((index) => counted.every((other) => values[index] >= values[other])));
        },
      ),
      seeded,
    );
  });

  it('never loses an extreme of a stretch that is cut in two', () => {
    fc.assert(
      fc.property(columns, fc.nat(40), (values, at) => {
        const cut = Math.min(at, values.length);
        const halves = [extremesOf(values, 0, cut), extremesOf(values, cut)];
        const whole = extremesOf(values);
        // -1, for what the whole does not have, is also in both halves.
        for (const name of ['lowest', 'highest', 'gap'] as const) {
          expect(halves.map((half) => half[name])).toContain(whole[name]);
        }
      }),
      seeded,
    );
  });
});

describe('rangeOf', () => {
  it('spans the finite values of all columns', () => {
    expect(rangeOf([[3, NaN, Infinity], Float64Array.of(-2, 1), []])).toEqual({ from: -2, to: 3 });
    expect(rangeOf([[5]])).toEqual({ from: 5, to: 5 });
  });

  it('is null if no value counts', () => {
    expect(rangeOf([])).toBeNull();
    expect(rangeOf([[NaN, -Infinity], []])).toBeNull();
    expect(rangeOf([[-1, 0]], positiveNumbers)).toBeNull();
  });

  it('spans the positive values for a logarithmic axis', () => {
    expect(rangeOf([[-1, 0, 0.1, 10, Infinity]], positiveNumbers)).toEqual({ from: 0.1, to: 10 });
  });
});
