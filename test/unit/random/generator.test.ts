import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Generator, hashName, seedForRank } from '../../../core/random/generator.ts';

const draw = <T>(count: number, next: () => T): T[] => Array.from({ length: count }, next);

// The literals come from an independent implementation of Philox, FNV-1a and the draws in Python's unbounded integers.
describe('reference values', () => {
  it('draws 53-bit uniforms from the words of its stream', () => {
    const generator = new Generator(42, 'weights');
    expect(draw(4, () => generator.uniform())).toEqual([
      0.06976237263468166, 0.5423356353252362, 0.0551420397436202, 0.33019686355778555,
    ]);
  });

  it('draws integers', () => {
    const generator = new Generator(42, 'weights');
    expect(draw(12, () => generator.integer(10))).toEqual([0, 1, 5, 7, 0, 2, 3, 8, 3, 3, 1, 2]);
  });

  it('rejects words that would bias an integer', () => {
    const generator = new Generator(42, 'weights');
    expect(draw(5, () => generator.integer(2 ** 31 + 1))).toEqual([
      332680324, 1164656911, 1689618120, 626366021, 1759759717,
    ]);
    expect(generator.state().position).toBe(8);
  });

  it('draws normals', () => {
    const generator = new Generator(42, 'weights');
    const normals = draw(3, () => generator.normal());
    [-0.36692758752635757, -0.16262466925184754, 0.425218957490402].forEach((expected, index) => {
      expect(normals[index]).toBeCloseTo(expected, 14);
    });
  });

  it('shuffles', () => {
    expect([...new Generator(7, 'shuffle').permutation(10)]).toEqual([6, 8, 2, 4, 9, 3, 5, 1, 0, 7]);
  });

  it('continues beyond 2^32 blocks', () => {
    const generator = new Generator(4294967295, 'dropout');
    generator.restore({ seed: 4294967295, stream: 'dropout', position: 2 ** 36 + 1 });
    expect(generator.uniform()).toBe(0.8886336358387961);
  });

  it('hashes names by FNV-1a with 64 bits', () => {
    // Test vectors of the FNV reference distribution.
    expect(hashName('')).toBe(0xcbf29ce484222325n);
    expect(hashName('a')).toBe(0xaf63dc4c8601ec8cn);
    expect(hashName('foobar')).toBe(0x85944171f73967e8n);
  });
});

describe('streams', () => {
  it('repeat for the same seed and name', () => {
    const [left, right] = [new Generator(1, 'split'), new Generator(1, 'split')];
    expect(draw(9, () => left.uniform())).toEqual(draw(9, () => right.uniform()));
  });

  it('share no word between names or seeds', () => {
    const generators = [
      new Generator(1, 'weights'),
      new Generator(1, 'dropout'),
      new Generator(2, 'weights'),
      new Generator(2, 'dropout'),
    ];
    const values = generators.flatMap((generator) => draw(1000, () => generator.uniform()));
    expect(new Set(values).size).toBe(4000);
  });

  it('resume exactly from a state that was serialized as JSON, at any position', () => {
    fc.assert(
      fc.property(fc.nat({ max: 40 }), (words) => {
        const generator = new Generator(3, 'augmentation');
        for (let word = 0; word < words; word++) generator.integer(5);
        const state = JSON.parse(JSON.stringify(generator.state()));
        const expected = [
          generator.integer(1000),
          generator.normal(),
          generator.uniform(),
          ...generator.permutation(5),
        ];
        const resumed = new Generator(3, 'augmentation');
        resumed.uniform();
        resumed.restore(state);
        expect([resumed.integer(1000), resumed.normal(), resumed.uniform(), ...resumed.permutation(5)]).toEqual(
          expected,
        );
        expect(resumed.state()).toEqual(generator.state());
      }),
    );
  });

  it('refuse a state of another seed or stream, and an invalid position', () => {
    const generator = new Generator(1, 'weights');
    expect(() => generator.restore({ seed: 2, stream: 'weights', position: 0 })).toThrow(/seed 2.*seed 1/);
    expect(() => generator.restore({ seed: 1, stream: 'dropout', position: 0 })).toThrow(/"dropout".*"weights"/);
    expect(() => generator.restore({ seed: 1, stream: 'weights', position: -1 })).toThrow('position -1');
    expect(() => generator.restore({ seed: 1, stream: 'weights', position: 0.5 })).toThrow('position 0.5');
  });

  it.each([-1, 0.5, NaN, 2 ** 32])('refuse the seed %d', (seed) => {
    expect(() => new Generator(seed, 'weights')).toThrow(`seed ${seed}: a seed is an integer from 0 to 4294967295`);
  });
});

describe('distributions', () => {
  const count = 100_000;

  it('uniforms fill [0, 1) evenly: chi-squared over 100 cells', () => {
    const generator = new Generator(11, 'test');
    const cells = new Int32Array(100);
    for (let index = 0; index < count; index++) cells[Math.floor(generator.uniform() * 100)]++;
    const chiSquared = cells.reduce((sum, observed) => sum + (observed - 1000) ** 2 / 1000, 0);
    // 99 degrees of freedom: the 0.9999 quantile is 157.
    expect(chiSquared).toBeLessThan(157);
  });

  it('integers are even: chi-squared over 7 values', () => {
    const generator = new Generator(12, 'test');
    const cells = new Int32Array(7);
    for (let index = 0; index < count; index++) cells[generator.integer(7)]++;
    const chiSquared = cells.reduce((sum, observed) => sum + (observed - count / 7) ** 2 / (count / 7), 0);
    // 6 degrees of freedom: the 0.9999 quantile is 27.9.
    expect(chiSquared).toBeLessThan(27.9);
  });

  it('normals have the moments of N(0, 1)', () => {
    const values = new Float32Array(count);
    new Generator(13, 'test').fillNormal(values);
    const moment = (power: number) => values.reduce((sum, value) => sum + value ** power, 0) / count;
    // Four standard errors: sqrt(1, 2, 15, 96 / count) of the first four sample moments.
    expect(Math.abs(moment(1))).toBeLessThan(4 * Math.sqrt(1 / count));
    expect(Math.abs(moment(2) - 1)).toBeLessThan(4 * Math.sqrt(2 / count));
    expect(Math.abs(moment(3))).toBeLessThan(4 * Math.sqrt(15 / count));
    expect(Math.abs(moment(4) - 3)).toBeLessThan(4 * Math.sqrt(96 / count));
  });

  it('permutations of 4 are even: chi-squared over all 24', () => {
    const generator = new Generator(14, 'test');
    const counts = new Map<string, number>();
    for (let index = 0; index < 24_000; index++) {
      const order = generator.permutation(4).join();
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    const chiSquared = [...counts.values()].reduce((sum, observed) => sum + (observed - 1000) ** 2 / 1000, 0);
    expect(counts.size).toBe(24);
    // 23 degrees of freedom: the 0.9999 quantile is 56.
    expect(chiSquared).toBeLessThan(56);
  });
});

describe('ranges', () => {
  it('integers stay below any bound', () => {
    const generator = new Generator(5, 'test');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 32 - 1 }), (bound) => {
        const value = generator.integer(bound);
        expect(Number.isInteger(value) && value >= 0 && value < bound).toBe(true);
      }),
    );
  });

  it.each([0, -3, 1.5, NaN, 2 ** 32])('refuse the bound %d', (bound) => {
    expect(() => new Generator(5, 'test').integer(bound)).toThrow(`bound ${bound}`);
  });

  it('permutations hold every index once', () => {
    fc.assert(
      fc.property(fc.nat({ max: 200 }), fc.nat(), (length, seed) => {
        const order = new Generator(seed, 'test').permutation(length);
        expect([...order].sort((left, right) => left - right)).toEqual(draw(length, () => 0).map((_, index) => index));
      }),
    );
  });

  it('float32 uniforms stay below 1 and use 24 bits of one word each', () => {
    const values = new Float32Array(100_000);
    const generator = new Generator(6, 'test');
    generator.fillUniform(values);
    expect(values.every((value) => value >= 0 && value < 1 && Number.isInteger(value * 2 ** 24))).toBe(true);
    expect(generator.state().position).toBe(100_000);
  });
});

describe('seedForRank', () => {
  it('adds the rank, modulo 2^32, unless seeds are identical', () => {
    expect(seedForRank(42, 0, false)).toBe(42);
    expect(seedForRank(42, 3, false)).toBe(45);
    expect(seedForRank(42, 3, true)).toBe(42);
    expect(seedForRank(0xffffffff, 2, false)).toBe(1);
  });
});
