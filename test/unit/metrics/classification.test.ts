import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  accuracy,
  brierScore,
  expectedCalibrationError,
  meanProbabilities,
  memberProbabilities,
  mostProbableClass,
  negativeLogLikelihood,
  reliabilityBins,
  type Probabilities,
} from '../../../core/metrics/index.ts';
import { classificationCase } from './arbitraries.ts';
import { referenceLabels, referenceProbabilities } from './reference.ts';

function rows(...probabilities: number[][]): Probabilities {
  return {
    samples: probabilities.length,
    classes: probabilities[0].length,
    values: Float64Array.from(probabilities.flat()),
  };
}

/** A two-class prediction of class 0 with the given confidence. */
const confident = (...confidences: number[]) => rows(...confidences.map((p) => [p, 1 - p]));

const reference = referenceProbabilities();
const labels = referenceLabels();

describe('negativeLogLikelihood', () => {
  it('is minus the mean log probability of the target', () => {
    // -(ln 0.5 + ln 0.25) / 2 = 1.5 ln 2
    expect(negativeLogLikelihood(rows([0.5, 0.5], [0.25, 0.75]), Int32Array.of(1, 0))).toBeCloseTo(1.5 * Math.LN2, 7);
  });

  it('is infinite if the target has probability 0, and 0 if it has 1', () => {
    expect(negativeLogLikelihood(rows([1, 0]), Int32Array.of(1))).toBe(Infinity);
    expect(negativeLogLikelihood(rows([1, 0]), Int32Array.of(0))).toBe(0);
  });

  it.each([
    ['ensemble', meanProbabilities(reference), 1.4385477964541187],
    ['member 0', memberProbabilities(reference, 0), 1.5453484062720497],
    ['member 1', memberProbabilities(reference, 1), 1.7167478118053239],
    ['member 2', memberProbabilities(reference, 2), 1.5541164184126428],
  ])('equals PyTorch: %s', (_name, probabilities, expected) => {
    expect(negativeLogLikelihood(probabilities, labels)).toBeCloseTo(expected, 12);
  });
});

describe('accuracy', () => {
  it('counts the samples whose most probable class is the target', () => {
    const probabilities = rows([0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]);
    expect(accuracy(probabilities, Int32Array.of(1, 2, 2))).toBeCloseTo(2 / 3, 15);
  });

  it('gives a tie to the first class', () => {
    expect([...mostProbableClass(rows([0.4, 0.4, 0.2], [0.2, 0.4, 0.4]))]).toEqual([0, 1]);
  });

  it('equals torchmetrics (average="micro")', () => {
    expect(accuracy(meanProbabilities(reference), labels)).toBe(0.255);
    expect(accuracy(memberProbabilities(reference, 0), labels)).toBe(0.17);
  });
});

describe('brierScore', () => {
  it('sums squared differences over classes: (0.3² + 0.3² + 0²), then 0 and 2', () => {
    expect(brierScore(rows([0.7, 0.3, 0]), Int32Array.of(0))).toBeCloseTo(0.18, 12);
    expect(brierScore(rows([1, 0]), Int32Array.of(0))).toBe(0);
    expect(brierScore(rows([1, 0]), Int32Array.of(1))).toBe(2);
  });

  it('equals PyTorch', () => {
    expect(brierScore(meanProbabilities(reference), labels)).toBeCloseTo(0.7721672995797542, 12);
    expect(brierScore(memberProbabilities(reference, 1), labels)).toBeCloseTo(0.8529127536932966, 12);
  });
});

describe('expectedCalibrationError', () => {
  it('weights the gaps of the bins by their counts', () => {
    // Confidences 0.61 and 0.65 share bin (0.6, 0.667]: accuracy 1/2, confidence 0.63. 0.95 alone is correct.
    const error = expectedCalibrationError(confident(0.61, 0.65, 0.95), Int32Array.of(0, 1, 0));
    expect(error).toBeCloseTo((2 / 3) * 0.13 + (1 / 3) * 0.05, 12);
  });

  it.each([
    ['ensemble', meanProbabilities(reference), 0.08041071675096945],
    ['member 0', memberProbabilities(reference, 0), 0.18470001652836798],
    ['member 1', memberProbabilities(reference, 1), 0.19558641508221625],
    ['member 2', memberProbabilities(reference, 2), 0.14771199226379397],
  ])(
    'equals PyTorch in float64, and torchmetrics within its float32 precision: %s',
    (_name, probabilities, expected) => {
      expect(expectedCalibrationError(probabilities, labels)).toBeCloseTo(expected, 12);
    },
  );
});

describe('reliabilityBins', () => {
  it('are 15 of equal width from 0 to 1', () => {
    const bins = reliabilityBins(confident(0.9), Int32Array.of(0));
    expect(bins.map((bin) => bin.lower)).toEqual(Array.from({ length: 15 }, (_, i) => i / 15));
    expect(bins.map((bin) => bin.upper)).toEqual(Array.from({ length: 15 }, (_, i) => (i + 1) / 15));
  });

  it('hold count, mean confidence and accuracy, or NaN if empty', () => {
    const bins = reliabilityBins(confident(0.61, 0.65, 0.95), Int32Array.of(0, 1, 0));
    expect(bins[9]).toMatchObject({ count: 2, accuracy: 0.5 });
    expect(bins[9].confidence).toBeCloseTo(0.63, 12);
    expect(bins[14]).toMatchObject({ count: 1, confidence: 0.95, accuracy: 1 });
    expect(bins[0]).toMatchObject({ count: 0, confidence: NaN, accuracy: NaN });
  });

  it.each([
    [0.6, 8],
    [12 / 15, 11],
    [1, 14],
  ])('put a confidence of %d on the upper edge of its bin', (confidence, expected) => {
    const bins = reliabilityBins(confident(confidence), Int32Array.of(0));
    expect(bins.findIndex((bin) => bin.count === 1)).toBe(expected);
  });

  it('put a confidence of at most 1 / 15, which needs more classes, into the first', () => {
    const even = rows(Array.from({ length: 20 }, () => 0.05));
    const [first, second] = reliabilityBins(even, Int32Array.of(0));
    expect(first).toMatchObject({ count: 1, confidence: 0.05, accuracy: 1 });
    expect(second.count).toBe(0);
  });

  it('put every edge into the bin below it', () => {
    for (let edge = 8; edge <= 15; edge++) {
      const bins = reliabilityBins(confident(edge / 15), Int32Array.of(0));
      expect(bins[edge - 1].count).toBe(1);
    }
  });
});

describe('bounds', () => {
  it('NLL of at least 0, accuracy and ECE in [0, 1], Brier in [0, 2], counts add up', () => {
    fc.assert(
      fc.property(classificationCase, ({ stack, targets }) => {
        const ensemble = meanProbabilities(stack);
        const nll = negativeLogLikelihood(ensemble, targets);
        // Rows of float32 may sum to a little more than 1.
        expect(nll).toBeGreaterThanOrEqual(-1e-7);
        for (const share of [accuracy(ensemble, targets), expectedCalibrationError(ensemble, targets)]) {
          expect(share).toBeGreaterThanOrEqual(0);
          expect(share).toBeLessThanOrEqual(1);
        }
        expect(brierScore(ensemble, targets)).toBeGreaterThanOrEqual(0);
        expect(brierScore(ensemble, targets)).toBeLessThanOrEqual(2 + 1e-6);
        const counts = reliabilityBins(ensemble, targets).map((bin) => bin.count);
        expect(counts.reduce((sum, count) => sum + count)).toBe(stack.samples);
      }),
    );
  });
});

describe('bad input', () => {
  const metrics = { negativeLogLikelihood, accuracy, brierScore, expectedCalibrationError };

  describe.each(Object.entries(metrics))('%s', (_name, metric) => {
    it.each([NaN, Infinity, -Infinity])('is NaN if any probability is %d, even of another class', (value) => {
      expect(metric(rows([0.5, 0.5, 0], [0.2, 0.8, value]), Int32Array.of(0, 1))).toBeNaN();
    });

    it('names a target outside the classes', () => {
      const call = (target: number) => () => metric(rows([0.5, 0.5], [0.5, 0.5]), Int32Array.of(0, target));
      expect(call(2)).toThrow('targets[1] is 2: a target is a class index in [0, 2); number the classes from 0');
      expect(call(-1)).toThrow('targets[1] is -1');
    });

    it('names a probability outside [0, 1]', () => {
      expect(() => metric(rows([0.5, 0.5], [3.5, -2.5]), Int32Array.of(0, 1))).toThrow(
        'probabilities[2] is 3.5: a probability lies in [0, 1]; apply softmax',
      );
    });

    it('names mismatched shapes', () => {
      expect(() => metric(rows([0.5, 0.5]), Int32Array.of(0, 1))).toThrow(
        'targets holds 2 values but its shape is [1]',
      );
      const short = { samples: 2, classes: 2, values: new Float32Array(3) };
      expect(() => metric(short, Int32Array.of(0, 1))).toThrow('probabilities holds 3 values but its shape is [2, 2]');
      const empty = { samples: 0, classes: 2, values: new Float32Array(0) };
      expect(() => metric(empty, new Int32Array(0))).toThrow('probabilities holds 0 values but its shape is [0, 2]');
    });
  });

  it('all bins are NaN for a non-finite prediction', () => {
    const bins = reliabilityBins(rows([0.5, 0.5], [NaN, 1]), Int32Array.of(0, 1));
    for (const bin of bins) expect(bin).toMatchObject({ count: NaN, confidence: NaN, accuracy: NaN });
  });

  it('accepts a float32 softmax that exceeds 1 by rounding', () => {
    expect(accuracy(rows([1.0000001, 0]), Int32Array.of(0))).toBe(1);
  });
});
