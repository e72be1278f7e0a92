import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aleatoricVariance,
  averageMemberMse,
  ensembleGain,
  ensembleStd,
  epistemicVariance,
  gaussianMixtureNll,
  gaussianNll,
  mean,
  meanOverMembers,
  meanSquaredError,
  memberGaussianNlls,
  memberValues,
  totalVariance,
  type StackedValues,
  unbiasedVariance,
} from '../../../core/metrics/index.ts';
import { identical, regressionCase, reversed } from './arbitraries.ts';
import { referenceMeans, referenceTargets, referenceVariances } from './reference.ts';

function stackOf(...members: number[][]): StackedValues {
  return { members: members.length, samples: members[0].length, values: Float32Array.from(members.flat()) };
}

const means = referenceMeans();
const variances = referenceVariances();
const targets = referenceTargets();

describe('squared errors', () => {
  // Members 1 and 3 with targets 2 and 0: errors (1, 1) and (1, 9). Their mean is 2, with errors 0 and 4.
  const stack = stackOf([1, 1], [3, 3]);
  const values = Float32Array.of(2, 0);

  it('are means over the samples', () => {
    expect(meanSquaredError(Float32Array.of(1, 1), values)).toBe(1);
    expect(meanSquaredError(meanOverMembers(stack), values)).toBe(2);
    expect(averageMemberMse(stack, values)).toBe(3);
    expect(ensembleGain(stack, values)).toBe(1);
  });

  it('equal PyTorch', () => {
    expect(meanSquaredError(meanOverMembers(means), targets)).toBeCloseTo(3.762647569444445, 12);
    expect([0, 1, 2].map((m) => meanSquaredError(memberValues(means, m), targets))).toEqual([
      5.45578125, 6.797265625, 7.189375,
    ]);
    expect(averageMemberMse(means, targets)).toBeCloseTo(6.480807291666667, 12);
    expect(ensembleGain(means, targets)).toBeCloseTo(6.480807291666667 - 3.762647569444445, 12);
  });
});

describe('spread', () => {
  it('is the unbiased standard deviation of the members, as in torch.std', () => {
    // {1, 3}: sqrt(2); {0, 6}: sqrt(18)
    expect(ensembleStd(stackOf([1, 0], [3, 6]))).toBeCloseTo((Math.SQRT2 + Math.sqrt(18)) / 2, 12);
    expect(ensembleStd(means)).toBeCloseTo(2.0183078336129494, 12);
  });

  it('is 0 for a single member', () => {
    expect(ensembleStd(stackOf([1, 5]))).toBe(0);
    expect([...epistemicVariance(stackOf([1, 5]))]).toEqual([0, 0]);
  });
});

describe('Gaussian likelihood', () => {
  it('includes all constants: ln(2 pi) / 2 at the mean of N(0, 1)', () => {
    expect(gaussianNll(Float32Array.of(0), Float32Array.of(1), Float32Array.of(0))).toBeCloseTo(0.9189385332046727, 15);
    // (ln(2 pi 4) + 3^2 / 4) / 2
    const expected = (Math.log(8 * Math.PI) + 2.25) / 2;
    expect(gaussianNll(Float32Array.of(1), Float32Array.of(4), Float32Array.of(4))).toBeCloseTo(expected, 14);
  });

  it('of the mixture is -log of the mean density', () => {
    // N(0; -1, 1) = N(0; 1, 1) = exp(-1/2) / sqrt(2 pi)
    const unit = stackOf([1], [1]);
    expect(gaussianMixtureNll(stackOf([-1], [1]), unit, Float32Array.of(0))).toBeCloseTo(0.9189385332046727 + 0.5, 14);
  });

  it('of the mixture survives densities that underflow', () => {
    // Member 0 is 1e5 deviations off, so only member 1 counts, with weight 1/2.
    const nll = gaussianMixtureNll(stackOf([1e5], [0]), stackOf([1], [1]), Float32Array.of(0));
    expect(nll).toBeCloseTo(0.9189385332046727 + Math.LN2, 14);
    const both = gaussianMixtureNll(stackOf([1e5], [1e5]), stackOf([1], [1]), Float32Array.of(0));
    expect(both).toBeCloseTo(0.9189385332046727 + 5e9, 5);
  });

  it('equals PyTorch', () => {
    const expected = [5.3708244144729544, 6.913469903112878, 5.213053583416053];
    memberGaussianNlls(means, variances, targets).forEach((nll, member) => {
      expect(nll).toBeCloseTo(expected[member], 12);
    });
    expect(gaussianMixtureNll(means, variances, targets)).toBeCloseTo(2.1024631765561628, 12);
  });
});

describe('variance decomposition', () => {
  it('is mean variance plus the variance of the means among the members', () => {
    const [centers, noise] = [stackOf([1, 0], [3, 6]), stackOf([1, 2], [3, 2])];
    expect([...aleatoricVariance(noise)]).toEqual([2, 2]);
    expect([...epistemicVariance(centers)]).toEqual([1, 9]);
    expect([...unbiasedVariance(centers)]).toEqual([2, 18]);
    expect([...totalVariance(centers, noise)]).toEqual([3, 11]);
  });

  it('equals PyTorch', () => {
    expect(mean(aleatoricVariance(variances))).toBeCloseTo(1.4883333333333335, 12);
    expect(mean(unbiasedVariance(means))).toBeCloseTo(4.077239583333334, 12);
    expect(mean(epistemicVariance(means))).toBeCloseTo((2 / 3) * 4.077239583333334, 12);
  });

  it("is the mixture's variance", () => {
    expect(mean(totalVariance(means, variances))).toBeCloseTo(4.206493055555556, 12);
  });
});

describe('properties', () => {
  it('gain >= 0 and equals the spread around the mean (Krogh and Vedelsby)', () => {
    fc.assert(
      fc.property(regressionCase, (example) => {
        const gain = ensembleGain(example.means, example.targets);
        expect(gain).toBeGreaterThanOrEqual(-1e-9);
        expect(gain).toBeCloseTo(mean(epistemicVariance(example.means)), 7);
      }),
    );
  });

  it('the mixture is no worse than its members on average (Jensen)', () => {
    fc.assert(
      fc.property(regressionCase, (example) => {
        const average = mean(memberGaussianNlls(example.means, example.variances, example.targets));
        const mixture = gaussianMixtureNll(example.means, example.variances, example.targets);
        expect(mixture).toBeLessThanOrEqual(average + 1e-9 * Math.abs(average));
      }),
    );
  });

  it('total variance is the sum of its parts, each at least 0', () => {
    fc.assert(
      fc.property(regressionCase, (example) => {
        const aleatoric = aleatoricVariance(example.variances);
        const epistemic = epistemicVariance(example.means);
        totalVariance(example.means, example.variances).forEach((total, n) => {
          expect(total).toBe(aleatoric[n] + epistemic[n]);
          expect(epistemic[n]).toBeGreaterThanOrEqual(0);
          expect(aleatoric[n]).toBeGreaterThan(0);
        });
      }),
    );
  });

  it('permuting members changes nothing beyond rounding', () => {
    fc.assert(
      fc.property(regressionCase, (example) => {
        const turnedMeans = reversed(example.means);
        const turnedVariances = reversed(example.variances);
        expect(ensembleGain(turnedMeans, example.targets)).toBeCloseTo(ensembleGain(example.means, example.targets), 7);
        expect(ensembleStd(turnedMeans)).toBeCloseTo(ensembleStd(example.means), 7);
        const nll = gaussianMixtureNll(example.means, example.variances, example.targets);
        const turnedNll = gaussianMixtureNll(turnedMeans, turnedVariances, example.targets);
        expect(Math.abs(turnedNll - nll)).toBeLessThanOrEqual(1e-12 * Math.max(1, Math.abs(nll)));
      }),
    );
  });

  it('identical members have no gain, no spread, and the NLL of one', () => {
    fc.assert(
      fc.property(regressionCase, (example) => {
        const [centers, noise] = [identical(example.means), identical(example.variances)];
        expect(ensembleGain(centers, example.targets)).toBeCloseTo(0, 7);
        expect(ensembleStd(centers)).toBeCloseTo(0, 7);
        const alone = gaussianNll(memberValues(centers, 0), memberValues(noise, 0), example.targets);
        const mixture = gaussianMixtureNll(centers, noise, example.targets);
        expect(Math.abs(mixture - alone)).toBeLessThanOrEqual(1e-12 * Math.max(1, Math.abs(alone)));
      }),
    );
  });
});

describe('bad input', () => {
  it.each([NaN, Infinity, -Infinity])('a prediction of %d makes every metric that uses it NaN', (value) => {
    const [broken, noise, values] = [stackOf([1, 2], [value, 4]), stackOf([1, 1], [1, 1]), Float32Array.of(1, 2)];
    expect(ensembleGain(broken, values)).toBeNaN();
    expect(averageMemberMse(broken, values)).toBeNaN();
    expect(ensembleStd(broken)).toBeNaN();
    expect(ensembleStd(stackOf([value]))).toBeNaN();
    expect([...epistemicVariance(broken)]).toEqual([NaN, 4 / 4]);
    expect([...unbiasedVariance(broken)]).toEqual([NaN, 8 / 4]);
    expect(gaussianMixtureNll(broken, noise, values)).toBeNaN();
    expect(memberGaussianNlls(broken, noise, values)[0]).not.toBeNaN();
    expect(memberGaussianNlls(broken, noise, values)[1]).toBeNaN();
  });

  it.each([NaN, Infinity, 0])('a variance of %d has no density', (value) => {
    const [centers, noise, values] = [stackOf([1], [1]), stackOf([1], [value]), Float32Array.of(1)];
    expect(gaussianNll(memberValues(centers, 1), memberValues(noise, 1), values)).toBeNaN();
    expect(gaussianMixtureNll(centers, noise, values)).toBeNaN();
  });

  it('names a negative variance', () => {
    const message = 'variances[1] is -0.5: a variance is positive; end the variance head with softplus or exp';
    const [centers, noise, values] = [stackOf([1, 2]), stackOf([1, -0.5]), Float32Array.of(1, 2)];
    expect(() => gaussianNll(centers.values, noise.values, values)).toThrow(message);
    expect(() => gaussianMixtureNll(centers, noise, values)).toThrow(message);
    expect(() => aleatoricVariance(noise)).toThrow(message);
  });

  it('names mismatched shapes', () => {
    const [one, two] = [stackOf([1, 2]), stackOf([1, 2], [3, 4])];
    expect(() => totalVariance(one, two)).toThrow('means have shape [1, 2] but variances [2, 2]');
    expect(() => gaussianMixtureNll(one, two, Float32Array.of(1, 2))).toThrow('means have shape [1, 2]');
    expect(() => meanSquaredError(Float32Array.of(1, 2), Float32Array.of(1))).toThrow('targets holds 1 values');
    expect(() => gaussianMixtureNll(one, one, Float32Array.of(1))).toThrow('targets holds 1 values');
    expect(() => ensembleStd({ ...one, samples: 3 })).toThrow('stack holds 2 values but its shape is [1, 3]');
  });
});
