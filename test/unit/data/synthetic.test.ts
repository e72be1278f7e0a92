import { describe, expect, it } from 'vitest';
import { gaussianBlobs, heteroscedasticSine, twoMoons } from '../../../workers/data/sources/synthetic.ts';

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const variance = (values: number[]) => {
  const center = mean(values);
  return mean(values.map((value) => (value - center) ** 2));
};

describe('heteroscedasticSine', () => {
  it('has 20 points on [0, 10) and a noise-free grid of 500 on [-4, 14] by default', () => {
    const { train, test } = heteroscedasticSine({ seed: 0 });
    expect(train.length).toBe(20);
    expect(train.features.every((x) => x >= 0 && x < 10)).toBe(true);
    expect(test?.length).toBe(500);
    expect([test?.features[0], test?.features[499]]).toEqual([-4, 14]);
    // -4 sin(-4) and 14 sin(14), from a table
    expect(test?.targets[0]).toBeCloseTo(-3.02721, 5);
    expect(test?.targets[499]).toBeCloseTo(13.8685, 4);
  });

  it('is the same for the same seed and different for another', () => {
    const targets = (seed: number) => heteroscedasticSine({ seed }).train.targets;
    expect(targets(3)).toEqual(targets(3));
    expect(targets(3)).not.toEqual(targets(4));
  });

  it('has noise of mean 0 and variance 0.09 (1 + x^2)', () => {
    const { train } = heteroscedasticSine({ seed: 1, samples: 40_000 });
    const standardized = [...train.features].map(
      (x, i) => (train.targets[i] - x * Math.sin(x)) / (0.3 * Math.hypot(1, x)),
    );
    // Five standard errors: 5 / sqrt(N) of the mean, 5 sqrt(2 / N) of the variance.
    expect(Math.abs(mean(standardized))).toBeLessThan(0.025);
    expect(Math.abs(variance(standardized) - 1)).toBeLessThan(0.036);
    expect(Math.abs(mean([...train.features]) - 5)).toBeLessThan((5 * 10) / Math.sqrt(12 * 40_000));
  });
});

describe('gaussianBlobs', () => {
  it('places class centres evenly on a circle', () => {
    const { features, targets } = gaussianBlobs({ samples: 4, classes: 4, radius: 2, spread: 0, seed: 1 });
    [2, 0, 0, 2, -2, 0, 0, -2].forEach((value, i) => expect(features[i]).toBeCloseTo(value, 6));
    expect([...targets]).toEqual([0, 1, 2, 3]);
  });

  it('spreads samples with the given deviation', () => {
    const { features } = gaussianBlobs({ samples: 20_000, classes: 1, radius: 0, spread: 3, seed: 1 });
    expect(Math.abs(variance([...features]) - 9)).toBeLessThan(9 * 5 * Math.sqrt(2 / 40_000));
  });
});

describe('twoMoons', () => {
  it('without noise equals the figure of make_moons', () => {
    const { features, targets, classCount } = twoMoons({ samples: 6, noise: 0, seed: 1 });
    const expected = [1, 0, 0, 0.5, 0, 1, 1, -0.5, -1, 0, 2, 0.5];
    expected.forEach((value, i) => expect(features[i]).toBeCloseTo(value, 6));
    expect([...targets]).toEqual([0, 1, 0, 1, 0, 1]);
    expect(classCount).toBe(2);
  });

  it('refuses fewer samples than classes', () => {
    expect(() => twoMoons({ samples: 1, seed: 1 })).toThrow('whole number of at least 2');
  });
});
