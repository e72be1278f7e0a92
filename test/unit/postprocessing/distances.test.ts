import { describe, expect, it } from 'vitest';
import {
  distanceScoreNames,
  distancesFrom,
  fitReference,
  meanDistances,
  type Reference,
} from '../../../core/postprocessing/outside/distances.ts';
import { decodeReferences, encodeReferences } from '../../../core/postprocessing/outside/reference-file.ts';
import { readGolden } from '../../golden/read-golden.ts';

/** Written by make_distances.py. */
const recorded = readGolden('postprocessing/distances.json') as {
  cases: {
    name: string;
    size: number;
    train: number[];
    labels: number[];
    fresh: number[];
    classMeans: number[];
    oneMean: number[];
    knn: number[];
    'input-knn': number[];
  }[];
};

function expectClose(found: Float64Array, expected: readonly number[]): void {
  expect(found).toHaveLength(expected.length);
  expected.forEach((value, index) =>
    expect(Math.abs(found[index] - value), `entry ${index}`).toBeLessThanOrEqual(5e-6 * (1 + value)),
  );
}

describe('distances to training samples against scikit-learn', () => {
  it.each(recorded.cases)('$name', ({ size, train, labels, fresh, ...expected }) => {
    const [values, others] = [Float32Array.from(train), Float32Array.from(fresh)];
    const own = Int32Array.from(labels);
    expectClose(distancesFrom(fitReference('mahalanobis', values, size, own), others), expected.classMeans);
    expectClose(distancesFrom(fitReference('input-mahalanobis', values, size, null), others), expected.oneMean);
    expectClose(distancesFrom(fitReference('knn', values, size, own), others), expected.knn);
    expectClose(distancesFrom(fitReference('input-knn', values, size, own), others), expected['input-knn']);
  });
});

describe('distances to training samples', () => {
  const train = Float32Array.of(0, 0, 2, 0, 0, 4, 2, 4);
  const all = distanceScoreNames.map((score) => fitReference(score, train, 2, null));

  it('are the same after their references were written and read', () => {
    const fresh = Float32Array.of(1, 2, -3, 7);
    for (const reference of all) {
      const [first, second, ...others] = decodeReferences(encodeReferences([reference, reference]));
      expect([others, second]).toEqual([[], first]);
      expect(distancesFrom(first, fresh)).toEqual(distancesFrom(reference, fresh));
    }
  });

  it('are NaN for values that are not finite, and means over the members', () => {
    for (const reference of all) expect(distancesFrom(reference, Float32Array.of(NaN, 1))[0]).toBeNaN();
    expect([...meanDistances([Float64Array.of(1, 2), Float64Array.of(3, 5)])]).toEqual([2, 3.5]);
  });

  it('count a constant value by its own unit', () => {
    const constant = Float32Array.of(1, 5, 2, 5, 3, 5);
    const [near, far] = distancesFrom(fitReference('input-knn', constant, 2, null), Float32Array.of(2, 5, 2, 9));
    // Of three samples the third nearest counts: one deviation of 1 away, √(2/3) each.
    expect(near).toBeCloseTo(Math.sqrt(3 / 2), 6);
    expect(far).toBeCloseTo(Math.sqrt(3 / 2 + 16), 6);
    const gaussian = fitReference('input-mahalanobis', constant, 2, null);
    const [inside, outside] = distancesFrom(gaussian, Float32Array.of(2, 5, 2, 9));
    expect(inside).toBeCloseTo(0, 6);
    expect(outside).toBeGreaterThan(4);
  });

  it('do not take the rounding of a mean for a deviation', () => {
    // The mean of these in doubles is not 0.1 in float32.
    const constant = Float32Array.from({ length: 2 * 1003 }, (_, index) => (index % 2 === 0 ? index : -0.1));
    for (const score of ['input-knn', 'input-mahalanobis'] as const) {
      const [own, near] = distancesFrom(
        fitReference(score, constant, 2, null),
        Float32Array.of(500, -0.1, 500, -0.0999),
      );
      expect(near).toBeCloseTo(own, 2);
    }
  });

  it('of one sample alone are those to it', () => {
    const lone = fitReference('mahalanobis', Float32Array.of(3, 4), 2, Int32Array.of(1));
    expect([...distancesFrom(lone, Float32Array.of(3, 4, 3, 5))]).toEqual([0, 1]);
  });

  it.each([NaN, Infinity])('have no Gaussian of training samples with the value %d', (value) => {
    for (const score of ['mahalanobis', 'input-mahalanobis'] as const) {
      const labels = score === 'mahalanobis' ? Int32Array.of(0, 1, 0, 1) : null;
      const values = train.with(5, value);
      expect(() => fitReference(score, values, 2, labels)).toThrow(
        'The 4 training samples have values that are not finite',
      );
    }
  });

  it('are refused for samples of another size, and for damaged files', () => {
    expect(() => distancesFrom(all[0], Float32Array.of(1, 2, 3))).toThrow('3 values are not samples of 2 values');
    const wrong: Reference = { kind: 'mahalanobis', size: 2, means: train, whitening: Float32Array.of(1) };
    expect(() => decodeReferences(encodeReferences([{ ...wrong, size: 1 }]))).not.toThrow();
    expect(() => decodeReferences(new Uint8Array(3))).toThrow('Not a valid safetensors file');
    const none: Reference = { kind: 'knn', size: 2, bank: train, scale: null, neighbours: 0 };
    expect(() => decodeReferences(encodeReferences([none]))).toThrow('do not fit each other');
  });
});
