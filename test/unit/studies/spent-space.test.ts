import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  configurationsOf,
  isSpent,
  type Sampler,
  samplerSchema,
  suggest,
} from '../../../core/studies/samplers/index.ts';
import { scrambledSobolPoint } from '../../../core/studies/samplers/quasi-random.ts';
import { spaceSize, TriedConfigurations } from '../../../core/studies/samplers/untried.ts';
import { type Assignment, checkAssignment, orderSpace } from '../../../core/studies/space/space.ts';
import type { SearchSpace } from '../../../core/studies/space/schema.ts';
import type { Trial } from '../../../core/studies/trial.ts';
import { completed, runStudy } from './functions.ts';

const samplers: [string, Sampler][] = [
  { kind: 'grid', points: 3 },
  { kind: 'random' },
  { kind: 'quasi-random' },
  { kind: 'tpe', startupTrials: 2 },
  { kind: 'tpe', startupTrials: 2, multivariate: false },
  { kind: 'gp', startupTrials: 2 },
].map((settings) => [JSON.stringify(settings), samplerSchema.parse(settings)]);

const four = orderSpace({
  width: { kind: 'choice', choices: [8, 16] },
  'optimizer.kind': { kind: 'choice', choices: ['sgd', 'adam'] },
});
/** 3 · 2 with momentum, 4 without: 1, 2, 4 and 8 layers are not in steps. */
const conditional = orderSpace({
  kind: { kind: 'choice', choices: ['sgd', 'adam'] },
  units: { kind: 'int', low: 8, high: 24, step: 8 },
  momentum: { kind: 'step', low: 0, high: 0.9, step: 0.9, when: { path: 'kind', equals: ['sgd'] } },
});

describe.each(samplers)('%s', (_, sampler) => {
  it.each([
    ['two choices', four, 4],
    ['a condition', conditional, 3 * 2 + 3],
  ])('tries each configuration of a space with %s once, and then has no more', (__, space, size) => {
    expect(configurationsOf(sampler, space)).toBe(size);
    const value = ({ width, units, momentum }: Assignment): number => Number(width ?? units) + Number(momentum ?? 1);
    const trials = runStudy(sampler, { space, minimum: 0, value }, 3, 30);
    expect(trials).toHaveLength(size);
    const texts = trials.map(({ values }) => space.map(({ path }) => String(values[path])).join(' '));
    expect(new Set(texts).size).toBe(size);
    for (const { values } of trials) expect(() => checkAssignment(space, values)).not.toThrow();
  });

  it.each<Trial['state']>(['running', 'paused', 'pruned', 'failed'])('does not repeat a trial that is %s', (state) => {
    const one = { ...completed(0, { width: 8, 'optimizer.kind': 'sgd' }, 1), state };
    const two = { ...completed(1, { width: 16, 'optimizer.kind': 'adam' }, 2), state };
    const three = { ...completed(2, { width: 8, 'optimizer.kind': 'adam' }, 3), state };
    const question = { space: four, directions: ['minimize' as const], seed: 5, trials: [one, two, three], number: 3 };
    expect(suggest(sampler, question)).toEqual({ width: 16, 'optimizer.kind': 'sgd' });
  });

  it('says so of any small space, whatever the seed', () => {
    const small = fc.record({
      seed: fc.integer({ min: 0, max: 1000 }),
      levels: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(small, ({ seed, levels }) => {
        const space = orderSpace(
          Object.fromEntries(
            levels.map((count, index): [string, SearchSpace[string]] => [
              `x${index}`,
              { kind: 'int', low: 1, high: count },
            ]),
          ),
        );
        const size = levels.reduce((product, count) => product * count, 1);
        const trials = runStudy(sampler, { space, minimum: 0, value: ({ x0 }) => Number(x0) }, seed, size + 1);
        expect(new TriedConfigurations(space, trials).count).toBe(size);
        expect(trials).toHaveLength(size);
      }),
      { seed: 27, numRuns: 8 },
    );
  });
});

it('a space with a continuous parameter never ends, except for a grid', () => {
  const space = orderSpace({ rate: { kind: 'log', low: 1e-3, high: 1 }, width: { kind: 'int', low: 1, high: 2 } });
  expect(spaceSize(space)).toBeNull();
  for (const [, sampler] of samplers) {
    const ends = sampler.kind === 'grid' ? 6 : null;
    expect(configurationsOf(sampler, space)).toBe(ends);
    const trials = runStudy(sampler, { space, minimum: 0, value: () => 1 }, 1, 12);
    expect([trials.length, isSpent(sampler, space, trials)]).toEqual([ends ?? 12, ends !== null]);
  }
});

it('the quasi-random sampler goes on to the next point of its sequence that is new', () => {
  const space = orderSpace({ x: { kind: 'int', low: 0, high: 9 } });
  const pointAt = (number: number) => Math.floor(scrambledSobolPoint(number, 1, 4)[0] * 10);
  const taken = [pointAt(20), pointAt(21)];
  const next = [22, 23, 24, 25, 26].map(pointAt).find((x) => !taken.includes(x));
  const trials = taken.map((x, number) => completed(number, { x }, 0));
  const question = { space, directions: ['minimize' as const], seed: 4, number: 20 };
  expect(suggest({ kind: 'quasi-random' }, { ...question, trials: [] })).toEqual({ x: taken[0] });
  expect(suggest({ kind: 'quasi-random' }, { ...question, trials })).toEqual({ x: next });
});

it('values that are no whole configuration of the space do not count as tried', () => {
  const values: Assignment[] = [
    { kind: 'adam', units: 8 },
    // The same, with a parameter that takes no part.
    { kind: 'adam', units: 8, momentum: 0.9 },
    { kind: 'adam', units: 9 },
    { kind: 'sgd', units: 8 },
    { kind: 'sgd', units: 8, momentum: 0.9 },
    { kind: 'sgd', units: 8, momentum: 0.1 + 0.8 },
  ];
  const tried = new TriedConfigurations(
    conditional,
    values.map((one, number) => completed(number, one, 0)),
  );
  expect(tried.count).toBe(2);
  expect(values.map((one) => tried.has(one))).toEqual([true, true, false, false, true, true]);
});
