import { describe, expect, it } from 'vitest';
import { logitsOf, probabilitiesOf, stackedClasses } from '../../../core/metrics/predictions.ts';

const rounded = (values: Iterable<number>): number[] => Array.from(values, (value) => Number(value.toFixed(5)));

describe('logits and probabilities of predictions', () => {
  it('of one output: p = 1 / (1 + exp(-x)), x = ln p - ln(1 - p)', () => {
    const logits = Float32Array.of(0, Math.log(3), -Math.log(3), Math.log(9), 200, -200);
    expect(rounded(probabilitiesOf(logits, 1))).toEqual([0.5, 0.75, 0.25, 0.9, 1, 0]);
    const back = logitsOf(Float32Array.of(0.5, 0.75, 0.25), 1);
    expect(rounded(back)).toEqual(rounded([0, Math.log(3), -Math.log(3)]));
    // 2^-149, the smallest float32, replaces 0.
    expect(rounded(logitsOf(Float32Array.of(0, 1), 1))).toEqual(
      rounded([-149, 149].map((power) => power * Math.LN2).map(Math.fround)),
    );
  });

  it('of several outputs: each row separately, the softmax of logarithms', () => {
    const probabilities = Float32Array.of(0.5, 0.25, 0.25, 0.125, 0.75, 0.125);
    const logits = logitsOf(probabilities, 3);
    expect(rounded(logits)).toEqual(rounded(Array.from(probabilities, (value) => Math.fround(Math.log(value)))));
    expect(rounded(probabilitiesOf(logits, 3))).toEqual([...probabilities]);
    const shifted = logits.map((value, index) => value + (index < 3 ? 7 : -2));
    expect(rounded(probabilitiesOf(shifted, 3))).toEqual([...probabilities]);
  });

  it('become stacks of classes: two for a binary task, 1 - p and p', () => {
    const values = Float32Array.of(0.25, 1, 0.5, 0);
    const binary = stackedClasses({ kind: 'probabilities', members: 2, samples: 2, width: 1, values });
    const twoClasses = Float32Array.of(0.75, 0.25, 0, 1, 0.5, 0.5, 1, 0);
    expect(binary).toEqual({ members: 2, samples: 2, classes: 2, values: twoClasses });
    const several = stackedClasses({ kind: 'probabilities', members: 1, samples: 2, width: 2, values });
    expect(several).toEqual({ members: 1, samples: 2, classes: 2, values });
    const logits = stackedClasses({ kind: 'logits', members: 1, samples: 2, width: 2, values });
    expect(logits).toEqual({ members: 1, samples: 2, classes: 2, logits: values });
  });
});
