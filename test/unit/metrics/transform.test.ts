import { describe, expect, it } from 'vitest';
import { coverageOfTransform, intervalCoverage, probabilityIntegralTransform } from '../../../core/metrics/index.ts';
import { readGolden } from '../../golden/read-golden.ts';

interface Case {
  name: string;
  members: number;
  means: number[];
  variances: number[];
  targets: number[];
  pit: number[];
  coverage: [level: number, share: number][];
  ks: number;
}

/** Written by make_transforms.py. */
const { versions, cases } = readGolden('metrics/transforms.json') as {
  versions: Record<string, string>;
  cases: Case[];
};

function mixtureOf({ members, means, variances, targets }: Case) {
  return Array.from({ length: members }, (_, member) => {
    const own = (values: number[]) =>
      Float64Array.from(values.slice(member * targets.length, (member + 1) * targets.length));
    return { means: own(means), variances: own(variances) };
  });
}

/** The Kolmogorov-Smirnov statistic against the uniform distribution. */
function distanceFromUniform(values: Float64Array): number {
  return Math.max(...values.toSorted().map((u, n, { length }) => Math.max((n + 1) / length - u, u - n / length)));
}

describe(`probability integral transform against scipy ${versions.scipy}`, () => {
  it.each(cases)('$name', (given) => {
    const targets = Float64Array.from(given.targets);
    const transform = probabilityIntegralTransform(mixtureOf(given), targets);
    given.pit.forEach((expected, n) => expect(transform[n]).toBeCloseTo(expected, 13));
    expect(distanceFromUniform(transform)).toBeCloseTo(given.ks, 12);
    for (const [level, share] of given.coverage) {
      expect(coverageOfTransform(transform, level), `within the central ${level}`).toBeCloseTo(share, 14);
      expect(intervalCoverage(mixtureOf(given), targets, level)).toBeCloseTo(share, 14);
    }
  });
});

describe('probability integral transform, by hand', () => {
  const gaussian = (mean: number, variance: number) => ({
    means: Float64Array.of(mean),
    variances: Float64Array.of(variance),
  });

  it('is 1/2 at the mean, and Φ(1) = 0.8413447 one deviation above it, whatever the deviation', () => {
    expect(probabilityIntegralTransform([gaussian(3, 4)], Float64Array.of(3))[0]).toBe(0.5);
    expect(probabilityIntegralTransform([gaussian(3, 4)], Float64Array.of(5))[0]).toBeCloseTo(0.8413447460685429, 15);
  });

  it('of two members is the mean of theirs, not that of their mean: (Φ(2) + Φ(0)) / 2 = 0.7386249', () => {
    expect(probabilityIntegralTransform([gaussian(0, 1), gaussian(2, 1)], Float64Array.of(2))[0]).toBeCloseTo(
      0.73862493402591,
      14,
    );
  });

  it('a deviation of 0 puts a target on one side, and is NaN at the mean and for means that are not numbers', () => {
    expect(probabilityIntegralTransform([gaussian(0, 0)], Float64Array.of(1))[0]).toBe(1);
    expect(probabilityIntegralTransform([gaussian(0, 0)], Float64Array.of(-1))[0]).toBe(0);
    expect(probabilityIntegralTransform([gaussian(0, 0)], Float64Array.of(0))[0]).toBeNaN();
    expect(probabilityIntegralTransform([gaussian(0, 1), gaussian(NaN, 1)], Float64Array.of(0))[0]).toBeNaN();
  });

  it('coverage is the share with |2u - 1| at most the level; unknown where one is', () => {
    const transform = Float64Array.of(0.05, 0.25, 0.5, 0.75, 0.99);
    expect(coverageOfTransform(transform, 0.5)).toBe(0.6);
    expect(coverageOfTransform(transform, 0.95)).toBe(0.8);
    expect(coverageOfTransform(transform, 1)).toBe(1);
    expect(coverageOfTransform(transform, 0)).toBe(0.2);
    expect(coverageOfTransform(Float64Array.of(...transform, NaN), 0.5)).toBeNaN();
  });

  it('counts by weight, and refuses other shapes and negative variances', () => {
    expect(coverageOfTransform(Float64Array.of(0.5, 0.01), 0.5, Float64Array.of(3, 1))).toBe(0.75);
    expect(() => probabilityIntegralTransform([gaussian(0, 1)], Float64Array.of(0, 1))).toThrow('shape');
    expect(() => probabilityIntegralTransform([gaussian(0, -1)], Float64Array.of(0))).toThrow('variances[0] is -1');
  });
});
