import { describe, expect, test } from 'vitest';
import {
  acquire,
  expectedImprovement,
  improvementProbability,
  largestMean,
  upperConfidenceBound,
} from '../../../core/discovery/acquire.ts';
import { chooseOptimum, chooseThompson, chooseTop } from '../../../core/discovery/choose.ts';
import { beliefOf } from '../../../core/discovery/belief.ts';
import { acquisitionKinds, acquisitionSchema, whyNoBatch } from '../../../core/discovery/search.ts';
import { combineMembers } from '../../../core/ensemble/combine-members.ts';
import { Generator } from '../../../core/random/generator.ts';
import { all, beliefFrom, recorded } from './recorded.ts';

function expectClose(found: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number): void {
  expect(found.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) expect(Math.abs(found[i] - expected[i])).toBeLessThan(tolerance);
}

describe('scores', () => {
  test.each(recorded.cases)('are those of BoTorch for $members members', (own) => {
    const belief = beliefFrom(Float64Array.from(own.values), own.members);
    expectClose(belief.mean, own.mean, 1e-14);
    expectClose(belief.deviation, own.deviation, 1e-14);
    expectClose(upperConfidenceBound(belief, own.kappa), own.ucb, 1e-12);
    expectClose(expectedImprovement(belief, own.best, 0), own.ei, 1e-12);
    expectClose(improvementProbability(belief, own.best, 0), own.pi, 1e-12);
  });

  test('without deviation an improvement is certain or impossible, and NaN stays NaN', () => {
    const moments = { mean: Float64Array.of(2, 1, 0, NaN), deviation: Float64Array.of(0, 0, 0, NaN) };
    expect([...expectedImprovement(moments, 1, 0.25)]).toEqual([0.75, 0, 0, NaN]);
    expect([...improvementProbability(moments, 1, 0.25)]).toEqual([1, 0, 0, NaN]);
  });

  test('the largest mean of the open candidates leaves out NaN and labelled ones', () => {
    const moments = { mean: Float64Array.of(9, NaN, 3, 5), deviation: new Float64Array(4) };
    expect(largestMean(moments, Int32Array.of(1, 2, 3))).toBe(5);
    expect(largestMean(moments, Int32Array.of(1))).toBe(-Infinity);
  });
});

describe('a belief', () => {
  test.each(recorded.information)(
    'of classes has the entropy and information of PyTorch',
    ({ shape, logits, ...own }) => {
      const [members, samples, width] = shape;
      const stack = { kind: 'logits' as const, members, samples, width, values: [Float32Array.from(logits)] };
      const belief = beliefOf(combineMembers(stack, { task: 'classification', combination: 'mean' }), {
        kind: 'class',
        label: 1,
      });
      expectClose(belief.uncertainty, own.entropy, 1e-6);
      expectClose(belief.information, own.information, 1e-6);
    },
  );

  test('of values to minimize is that of their negatives; noise and information by hand', () => {
    const values = [Float32Array.of(1, 4, 3, 4), Float32Array.of(1, 2, 3, 2)];
    const stack = { kind: 'values' as const, members: 2, samples: 2, width: 1, values };
    const predictions = combineMembers(stack, { task: 'heteroscedastic-regression', combination: 'mean' });
    const belief = beliefOf(predictions, { kind: 'minimize' });
    expect([...belief.mean]).toEqual([-2, -4]);
    expect([...belief.deviation]).toEqual([1, 0]);
    expectClose(belief.noise, [2, 2], 1e-12);
    expectClose(belief.uncertainty, [3, 2], 1e-12);
    expectClose(belief.information, [Math.log(1.5) / 2, 0], 1e-12);
  });

  test('needs one target, and a goal that fits', () => {
    const stack = { kind: 'values' as const, members: 1, samples: 1, width: 2, values: [Float32Array.of(1, 2)] };
    const predictions = combineMembers(stack, { task: 'regression', combination: 'mean' });
    expect(() => beliefOf(predictions, { kind: 'maximize' })).toThrow('A sample has 2 targets');
    expect(() => beliefOf(predictions, { kind: 'class', label: 1 })).toThrow(
      'A search for a class cannot use predictions of values',
    );
  });
});

describe('choices', () => {
  test('equal scores fall to the smaller index, NaN and labelled candidates to nobody', () => {
    const scores = Float64Array.of(1, 3, NaN, 3, Infinity, 3, 0, -Infinity);
    const open = Int32Array.of(0, 1, 2, 3, 5, 6, 7);
    expect([...chooseTop(scores, open, 4)]).toEqual([1, 3, 5, 0]);
    expect([...chooseTop(scores, open, 100)]).toEqual([1, 3, 5, 0, 6, 7]);
  });

  test('a few of many are the first of a full sort', () => {
    const generator = new Generator(3, 'scores');
    const scores = Float64Array.from({ length: 5000 }, () => Math.floor(generator.uniform() * 900));
    const sorted = [...all(5000)].sort((a, b) => scores[b] - scores[a] || a - b);
    expect([...chooseTop(scores, all(5000), 20)]).toEqual(sorted.slice(0, 20));
  });

  test('Thompson takes what the drawn member likes best, each candidate once', () => {
    const belief = beliefFrom(Float64Array.of(4, 3, 2, 1, /* second member */ 1, 2, 3, 4), 2);
    const generator = new Generator(1, 'round');
    const members = new Generator(1, 'round');
    const expected: number[] = [];
    for (let n = 0; n < 4; n++) {
      const likes = members.integer(2) === 0 ? [0, 1, 2, 3] : [3, 2, 1, 0];
      expected.push(likes.find((index) => !expected.includes(index)) ?? -1);
    }
    expect([...chooseThompson(belief, all(4), 4, generator)]).toEqual(expected);
  });

  test('qPO takes first what most members rank first, then goes on among the rest', () => {
    // Favourites: 2, 2, 0. Then, without both: 1, 3, 1.
    const belief = beliefFrom(Float64Array.of(0, 2, 9, 1, 1, 2, 9, 8, 9, 7, 1, 0), 3);
    expect([...chooseOptimum(belief, all(4), 3)]).toEqual([2, 0, 1]);
    expect([...chooseOptimum(belief, all(4), 9)]).toEqual([2, 0, 1, 3]);
  });

  test.each(acquisitionKinds)('%s chooses open candidates once each, the same for the same question', (kind) => {
    const [, { values, members }] = recorded.cases;
    const belief = beliefFrom(Float64Array.from(values), members, new Float64Array(50).fill(0.1));
    const open = all(50).filter((index) => index % 3 > 0);
    const ask = () => {
      const generator = new Generator(7, 'round 3');
      return acquire(acquisitionSchema.parse({ kind }), {
        belief,
        open,
        count: 9,
        bestLabel: 0.5,
        features: null,
        generator,
      });
    };
    const { indices } = ask();
    expect(new Set(indices).size).toBe(9);
    expect([...indices].every((index) => open.includes(index))).toBe(true);
    expect(ask()).toEqual(ask());
  });

  test('candidates whose predictions are NaN are refused where too few others are left', () => {
    const belief = beliefFrom(Float64Array.of(1, NaN, NaN), 1);
    const question = {
      belief,
      open: all(3),
      count: 2,
      bestLabel: 0,
      features: null,
      generator: new Generator(1, 'round'),
    };
    expect(() => acquire(acquisitionSchema.parse({ kind: 'greedy' }), question)).toThrow(
      'Of 3 candidates without a label only 1 have predictions that are numbers',
    );
  });

  test('an acquisition that cannot have a kind of batch says why', () => {
    expect(whyNoBatch({ kind: 'qpo', batch: 'centres' })).toContain('chooses a whole batch itself');
    expect(whyNoBatch({ kind: 'greedy', batch: 'fantasies' })).toContain('Choose ucb, ei or pi');
    expect(whyNoBatch({ kind: 'ei', batch: 'fantasies' })).toBeNull();
  });
});
