import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  jensenGap,
  averageMemberNll,
  disagreement,
  entropy,
  expectedEntropy,
  mean,
  meanProbabilities,
  mutualInformation,
  negativeLogLikelihood,
  pairwiseDisagreement,
  predictiveEntropy,
  type StackedProbabilities,
  shareNotUnanimous,
} from '../../../core/metrics/index.ts';
import { classificationCase, identical, reversed } from './arbitraries.ts';
import { referenceLabels, referenceProbabilities } from './reference.ts';

/** `members[m][n][k]` */
function stackOf(...members: number[][][]): StackedProbabilities {
  const values = Float32Array.from(members.flat(2));
  return { members: members.length, samples: members[0].length, classes: members[0][0].length, values };
}

const reference = referenceProbabilities();
const labels = referenceLabels();

/** Two certain members that contradict each other on the second of two samples. */
const contradicting = stackOf(
  [
    [1, 0],
    [1, 0],
  ],
  [
    [1, 0],
    [0, 1],
  ],
);

describe('diversity', () => {
  it('disagreement is the mean over pairs of members, beside the share of samples that is not unanimous', () => {
    expect(disagreement(contradicting)).toBe(0.5);
    expect(disagreement(reference)).toBeCloseTo((0.855 + 0.755 + 0.77) / 3, 12);
    expect(shareNotUnanimous(contradicting)).toBe(0.5);
    expect(shareNotUnanimous(reference)).toBe(0.935);
  });

  it('pairwise disagreement is symmetric with a diagonal of 0', () => {
    expect([...pairwiseDisagreement(contradicting)]).toEqual([0, 0.5, 0.5, 0]);
    expect([...pairwiseDisagreement(reference)]).toEqual([0, 0.855, 0.755, 0.855, 0, 0.77, 0.755, 0.77, 0]);
  });

  it('the Jensen gap is mean member NLL - ensemble NLL', () => {
    // Members give the target 0.8 and 0.2, so their NLLs are -ln 0.8 and -ln 0.2. The mean gives it 0.5.
    const stack = stackOf([[0.8, 0.2]], [[0.2, 0.8]]);
    const expected = -(Math.log(0.8) + Math.log(0.2)) / 2 - Math.LN2;
    expect(jensenGap(stack, Int32Array.of(0))).toBeCloseTo(expected, 6);
  });

  it('equals PyTorch', () => {
    expect(averageMemberNll(reference, labels)).toBeCloseTo(1.6054042121633387, 12);
    expect(jensenGap(reference, labels)).toBeCloseTo(1.6054042121633387 - 1.4385477964541187, 12);
  });
});

describe('uncertainty', () => {
  it('entropy is in nats: ln K when uniform, 0 when certain', () => {
    const probabilities = { samples: 2, classes: 4, values: Float32Array.of(0.25, 0.25, 0.25, 0.25, 0, 1, 0, 0) };
    expect([...entropy(probabilities)]).toEqual([2 * Math.LN2, 0]);
  });

  it('splits into a shared part and disagreement', () => {
    // On the first sample both are certain and agree. On the second they contradict, so all of ln 2 is epistemic.
    expect([...predictiveEntropy(contradicting)]).toEqual([0, Math.LN2]);
    expect([...expectedEntropy(contradicting)]).toEqual([0, 0]);
    expect([...mutualInformation(contradicting)]).toEqual([0, Math.LN2]);
  });

  it('is purely aleatoric if members agree on the uncertainty', () => {
    const unsure = stackOf([[0.5, 0.5]], [[0.5, 0.5]]);
    expect([...expectedEntropy(unsure)]).toEqual([Math.LN2]);
    expect([...mutualInformation(unsure)]).toEqual([0]);
  });

  it('equals PyTorch', () => {
    expect(mean(predictiveEntropy(reference))).toBeCloseTo(1.3473348963504679, 12);
    expect(mean(mutualInformation(reference))).toBeCloseTo(0.10597388176514233, 12);
  });

  it.each([NaN, Infinity])('is NaN only for the sample with a probability of %d', (value) => {
    const stack = stackOf(
      [
        [0.5, 0.5],
        [0.5, 0.5],
      ],
      [
        [0.5, 0.5],
        [value, 0.5],
      ],
    );
    for (const uncertainty of [predictiveEntropy, expectedEntropy, mutualInformation]) {
      const [first, second] = uncertainty(stack);
      expect(first).not.toBeNaN();
      expect(second).toBeNaN();
    }
  });
});

/** A number rounded to the given digits; non-finite values stay unchanged. */
const close = (value: number, digits: number): unknown =>
  Number.isFinite(value) ? expect.closeTo(value, digits) : value;

describe('properties', () => {
  it('the ensemble is no worse than its members on average: Jensen gap >= 0 (Jensen)', () => {
    fc.assert(
      fc.property(classificationCase, ({ stack, targets }) => {
        fc.pre(Number.isFinite(averageMemberNll(stack, targets)));
        expect(jensenGap(stack, targets)).toBeGreaterThanOrEqual(-1e-12);
        expect(negativeLogLikelihood(meanProbabilities(stack), targets)).toBeLessThanOrEqual(
          averageMemberNll(stack, targets) + 1e-12,
        );
      }),
    );
  });

  it('mutual information is in [0, ln M], entropy in [0, ln K]', () => {
    fc.assert(
      fc.property(classificationCase, ({ stack }) => {
        const information = mutualInformation(stack);
        const total = predictiveEntropy(stack);
        expect(information.every((nats) => nats >= 0 && nats <= Math.log(stack.members) + 1e-6)).toBe(true);
        expect(total.every((nats) => nats >= 0 && nats <= Math.log(stack.classes) + 1e-6)).toBe(true);
      }),
    );
  });

  it('permuting members changes nothing beyond rounding', () => {
    fc.assert(
      fc.property(classificationCase, ({ stack, targets }) => {
        const turned = reversed(stack);
        // It is infinite or NaN if a target has probability 0, in any order.
        expect(jensenGap(turned, targets)).toEqual(close(jensenGap(stack, targets), 10));
        expect(disagreement(turned)).toBeCloseTo(disagreement(stack), 12);
        expect(shareNotUnanimous(turned)).toBe(shareNotUnanimous(stack));
        expect(mean(predictiveEntropy(turned))).toBeCloseTo(mean(predictiveEntropy(stack)), 10);
        expect(mean(mutualInformation(turned))).toBeCloseTo(mean(mutualInformation(stack)), 10);
        expect([...pairwiseDisagreement(turned)].toReversed()).toEqual([...pairwiseDisagreement(stack)]);
      }),
    );
  });

  it('identical members have no Jensen gap, disagreement or mutual information', () => {
    fc.assert(
      fc.property(classificationCase, ({ stack, targets }) => {
        const copies = identical(stack);
        const isPossible = Number.isFinite(averageMemberNll(copies, targets));
        expect(jensenGap(copies, targets)).toEqual(close(isPossible ? 0 : NaN, 12));
        expect(disagreement(copies)).toBe(0);
        expect(shareNotUnanimous(copies)).toBe(0);
        expect(mean(mutualInformation(copies))).toBeCloseTo(0, 12);
        expect(pairwiseDisagreement(copies).every((share) => share === 0)).toBe(true);
      }),
    );
  });
});

describe('bad input', () => {
  const broken = stackOf([[0.9, 0.1]], [[0.2, 0.8]], [[NaN, 0.5]]);

  it('a non-finite member makes the ensemble NaN, and only its own pairs', () => {
    expect(disagreement(broken)).toBeNaN();
    expect(shareNotUnanimous(broken)).toBeNaN();
    expect(jensenGap(broken, Int32Array.of(0))).toBeNaN();
    expect([...pairwiseDisagreement(broken)]).toEqual([0, 1, NaN, 1, 0, NaN, NaN, NaN, NaN]);
  });

  it('names a stack that does not fill its shape', () => {
    const short = { ...contradicting, samples: 3 };
    const message = 'stack holds 8 values but its shape is [2, 3, 2]';
    expect(() => disagreement(short)).toThrow(message);
    expect(() => pairwiseDisagreement(short)).toThrow(message);
    expect(() => jensenGap(short, Int32Array.of(0, 0, 0))).toThrow(message);
    expect(() => predictiveEntropy(short)).toThrow(message);
  });
});
