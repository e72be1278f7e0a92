import { describe, expect, test } from 'vitest';
import { acquire, afterObserving, chooseCentres } from '../../../core/discovery/acquire.ts';
import { chooseClusters, lloyd } from '../../../core/discovery/k-means.ts';
import { acquisitionSchema } from '../../../core/discovery/search.ts';
import { Generator } from '../../../core/random/generator.ts';
import { all, beliefFrom, recorded } from './recorded.ts';

const { width, values } = recorded.features;
const features = { width, values: Float32Array.from(values) };
const points = values.length / width;

describe('fantasies', () => {
  test.each(recorded.cases)('leave the deviations of the whole covariance matrix, for $members members', (own) => {
    const { noise, chosen, deviations } = own.fantasies;
    let belief = beliefFrom(Float64Array.from(own.values), own.members, Float64Array.from(noise));
    chosen.forEach((index, round) => {
      deviations[round].forEach((expected, i) => expect(Math.abs(belief.deviation[i] - expected)).toBeLessThan(1e-10));
      belief = afterObserving(belief, index);
    });
    expect([...belief.mean]).toEqual([...beliefFrom(Float64Array.from(own.values), own.members).mean]);
  });

  test.each(recorded.cases)('choose the batch that NumPy chose', (own) => {
    const { noise, chosen, kappa } = own.fantasies;
    const belief = beliefFrom(Float64Array.from(own.values), own.members, Float64Array.from(noise));
    const acquisition = acquisitionSchema.parse({ kind: 'ucb', batch: 'fantasies', kappa });
    const open = all(belief.candidates);
    const question = {
      belief,
      open,
      count: chosen.length,
      bestLabel: null,
      features: null,
      generator: new Generator(1, 'r'),
    };
    expect([...acquire(acquisition, question).indices]).toEqual(chosen);
  });

  test('a candidate without noise is known once it is observed', () => {
    const belief = beliefFrom(Float64Array.of(1, 5, 3, 3), 2);
    expect(afterObserving(belief, 0).deviation[0]).toBe(0);
    // Both candidates are fully correlated, so the second is known too.
    expect(afterObserving(belief, 0).deviation[1]).toBe(0);
  });
});

describe('diverse batches', () => {
  test('centres are those of the definition in NumPy', () => {
    expect([...chooseCentres(features, all(points), 15)]).toEqual(recorded.features.centres);
  });

  test('centres begin with the best, and equal candidates come last', () => {
    const same = { width: 1, values: Uint8Array.of(4, 4, 9, 4) };
    expect([...chooseCentres(same, Int32Array.of(1, 0, 2, 3), 4)]).toEqual([1, 2, 0, 3]);
  });

  test('clusters are those of scikit-learn from the same centres', () => {
    const centres = Array.from({ length: 9 }, (_, k) => Float64Array.from(values.slice(k * width, (k + 1) * width)));
    expect([...lloyd(features, all(points), centres)]).toEqual(recorded.features.clusters);
  });

  test('one candidate of each of three groups, its best one', () => {
    const groups = { width: 1, values: Float32Array.of(0, 0.1, 10, 10.1, 20, 20.1) };
    const chosen = chooseClusters(groups, Int32Array.of(3, 2, 1, 0, 5, 4), 3, new Generator(2, 'round'));
    expect([...chosen]).toEqual([3, 1, 5]);
  });

  test('equal candidates still fill the batch', () => {
    const same = { width: 2, values: new Float32Array(12).fill(1) };
    expect([...chooseClusters(same, all(6), 4, new Generator(2, 'round'))]).toEqual([0, 1, 2, 3]);
  });

  test('need features', () => {
    const belief = beliefFrom(Float64Array.of(1, 2), 1);
    const question = { belief, open: all(2), count: 1, bestLabel: 0, features: null, generator: new Generator(1, 'r') };
    expect(() => acquire(acquisitionSchema.parse({ kind: 'ucb', batch: 'centres' }), question)).toThrow('features');
  });
});
