import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samplerSchema, suggest } from '../../../core/studies/samplers/index.ts';
import { countBelow, Mixture, rampOf, splitTrials } from '../../../core/studies/samplers/tpe.ts';
import { holdsValue } from '../../../core/studies/space/domain.ts';
import { type Assignment, checkAssignment, orderSpace } from '../../../core/studies/space/space.ts';
import type { Trial } from '../../../core/studies/trial.ts';
import { branin, completed, everyKind as space, hartmann6, regretOf, runStudy } from './functions.ts';
import { chanceOfLarger } from './rank-sum.ts';
import { optuna, regrets } from './recorded.ts';

const tpe = samplerSchema.parse({ kind: 'tpe' });
const conditional = orderSpace({
  kind: { kind: 'choice', choices: ['sgd', 'adam'] },
  rate: { kind: 'log', low: 1e-4, high: 1 },
  momentum: { kind: 'float', low: 0, high: 1, when: { path: 'kind', equals: ['sgd'] } },
  nesterov: { kind: 'choice', choices: [true, false], when: { path: 'kind', equals: ['sgd'] } },
});

it('trials older than the newest 25 weigh less, from 1/n on, as NumPy spaces them', () => {
  // numpy.linspace(1 / n, 1, n - 25), and 25 ones.
  const older = (count: number): number[] => rampOf(count).slice(0, -25);
  expect(rampOf(25)).toEqual(Array.from({ length: 25 }, () => 1));
  expect(older(26)).toEqual([1 / 26]);
  expect(older(27)).toEqual([1 / 27, 1]);
  expect(older(28)).toEqual([1 / 28, expect.closeTo(0.5178571428571428, 12), 1]);
});

describe('the densities agree with Optuna', () => {
  it.each(optuna.estimators)('around $observed.length observations', ({ observed, asked, logDensities }) => {
    const mixture = new Mixture(space, observed, rampOf(observed.length));
    for (const [index, values] of asked.entries()) {
      expect(mixture.logDensity(values)).toBeCloseTo(logDensities[index], 8);
    }
  });
});

describe('the split', () => {
  const pruned = (number: number, step: number, value: number): Trial => ({
    number,
    state: 'pruned',
    values: {},
    objectives: null,
    reports: [
      { step: 0, value: 0 },
      { step, value },
    ],
  });
  const numbers = (trials: readonly Trial[]): number[] => trials.map(({ number }) => number);

  it('takes a tenth, at most 25 of one objective', () => {
    expect([1, 10, 11, 250, 251, 2000].map((finished) => countBelow(finished, 1))).toEqual([1, 1, 2, 25, 25, 25]);
    expect(countBelow(2000, 2)).toBe(200);
  });

  it('prefers complete trials, then those that were stopped late', () => {
    const trials = [
      pruned(0, 3, 1),
      completed(1, {}, 5),
      pruned(2, 7, 9),
      completed(3, {}, 4),
      pruned(4, 7, 8),
      pruned(5, 9, NaN),
    ];
    expect(numbers(splitTrials(trials, ['minimize'], 1).below)).toEqual([3]);
    expect(numbers(splitTrials(trials, ['maximize'], 1).below)).toEqual([1]);
    expect(numbers(splitTrials(trials, ['minimize'], 4).below)).toEqual([1, 3, 4, 5]);
    expect(numbers(splitTrials(trials, ['minimize'], 4).above)).toEqual([0, 2]);
  });

  it('takes the first of equal trials', () => {
    const trials = [2, 1, 1, 1].map((loss, number) => completed(number, {}, loss));
    expect(numbers(splitTrials(trials, ['minimize'], 2).below)).toEqual([1, 2]);
  });

  it('never counts a running trial as good', () => {
    const running: Trial = { ...completed(2, {}, 0), state: 'running', objectives: null };
    expect(numbers(splitTrials([completed(1, {}, 5), running], ['minimize'], 2).above)).toEqual([2]);
  });

  it('takes whole fronts, then what adds most volume', () => {
    const points = [
      [0, 4],
      [1, 1],
      [4, 0],
      [1, 2],
      [9, 9],
    ];
    const trials = points.map((objectives, number): Trial => ({ ...completed(number, {}, 0), objectives }));
    expect(numbers(splitTrials(trials, ['minimize', 'minimize'], 1).below)).toEqual([1]);
    expect(numbers(splitTrials(trials, ['minimize', 'minimize'], 4).below)).toEqual([0, 1, 2, 3]);
    expect(numbers(splitTrials(trials, ['maximize', 'maximize'], 1).below)).toEqual([4]);
  });
});

describe('the sampler', () => {
  it.each([
    ['branin', branin, true],
    ['hartmann6', hartmann6, true],
    ['branin', branin, false],
  ] as const)('minimizes %s no worse than Optuna', (name, task, multivariate) => {
    const sampler = samplerSchema.parse({ kind: 'tpe', multivariate });
    const recorded = regrets.find(
      (one) => one.function === name && one.sampler === (multivariate ? 'tpe' : 'tpe-independent'),
    );
    const random = regrets.find((one) => one.function === name && one.sampler === 'random');
    const found = Array.from({ length: 30 }, (_, seed) =>
      regretOf(runStudy(sampler, task, seed, recorded?.trials ?? 0), task),
    );
    expect(chanceOfLarger(found, recorded?.regrets ?? [])).toBeGreaterThan(0.05);
    expect(chanceOfLarger(random?.regrets ?? [], found)).toBeLessThan(1e-6);
  });

  it('gives the same suggestion for the same trials in any order', () => {
    const trials = runStudy(tpe, branin, 1, 30);
    const question = { space: branin.space, directions: ['minimize' as const], seed: 1, trials, number: 30 };
    const expected = suggest(tpe, question);
    fc.assert(
      fc.property(fc.shuffledSubarray(trials, { minLength: trials.length }), (shuffled) => {
        expect(suggest(tpe, { ...question, trials: shuffled })).toEqual(expected);
      }),
      { seed: 15, numRuns: 20 },
    );
    expect(suggest(tpe, { ...question, seed: 2 })).not.toEqual(expected);
  });

  it('ignores failed trials, and the trial itself', () => {
    const trials = runStudy(tpe, branin, 1, 30);
    const question = { space: branin.space, directions: ['minimize' as const], seed: 1, trials, number: 30 };
    const others: Trial[] = [
      { ...trials[0], number: 31, state: 'failed', objectives: null },
      { ...trials[0], number: 30, state: 'running', objectives: null },
    ];
    expect(suggest(tpe, { ...question, trials: [...trials, ...others] })).toEqual(suggest(tpe, question));
  });

  it('keeps away from running trials, unless they do not count', () => {
    const bold = samplerSchema.parse({ kind: 'tpe', constantLiar: false });
    const placeOf = (values: Assignment | null): [number, number] => [Number(values?.x), Number(values?.y)];
    const distances = Array.from({ length: 30 }, (_, seed) => {
      const trials = runStudy(tpe, branin, seed, 40);
      const question = { space: branin.space, directions: ['minimize' as const], seed, trials, number: 60 };
      const alone = suggest(tpe, question);
      const [x, y] = placeOf(alone);
      // Eight trials run within 0.05 of what would be suggested, in a square of 15 by 15.
      const running = Array.from({ length: 8 }, (__, index): Trial => {
        const angle = (index * Math.PI) / 4;
        const values = { x: x + 0.05 * Math.cos(angle), y: y + 0.05 * Math.sin(angle) };
        return { number: 40 + index, state: 'running', values, objectives: null, reports: [] };
      });
      const beside = { ...question, trials: [...trials, ...running] };
      expect(suggest(bold, beside)).toEqual(suggest(bold, question));
      const [otherX, otherY] = placeOf(suggest(tpe, beside));
      return Math.hypot(otherX - x, otherY - y);
    });
    expect(distances.filter((distance) => distance > 1).length).toBeGreaterThan(25);
  });

  it.each([true, false])('draws valid values of every kind, with conditions (together: %s)', (multivariate) => {
    const sampler = samplerSchema.parse({ kind: 'tpe', multivariate, startupTrials: 4 });
    for (const task of [space, conditional]) {
      const trials = runStudy(
        sampler,
        { space: task, minimum: 0, value: ({ rate }) => Math.log(Number(rate) / 0.01) ** 2 },
        5,
        60,
      );
      for (const { values } of trials) {
        expect(() => checkAssignment(task, values)).not.toThrow();
        for (const { path, domain } of task)
          expect(values[path] === undefined || holdsValue(domain, values[path])).toBe(true);
      }
      const [early, late] = [trials.slice(0, 10), trials.slice(-10)].map((part) =>
        part.reduce((sum, { objectives }) => sum + (objectives?.[0] ?? NaN), 0),
      );
      expect(late).toBeLessThan(early);
    }
  });

  it('approaches the front of two objectives', () => {
    const sampler = samplerSchema.parse({ kind: 'tpe' });
    const trials: Trial[] = [];
    for (let number = 0; number < 80; number++) {
      const values =
        suggest(sampler, { space: branin.space, directions: ['minimize', 'maximize'], seed: 2, trials, number }) ?? {};
      const [x, y] = [Number(values.x), Number(values.y)];
      // The front is y = 0 with x from 0 to 2 (Schaffer's function with a penalty).
      trials.push({ ...completed(number, values, 0), objectives: [x ** 2 + y, -((x - 2) ** 2) - y] });
    }
    const distance = (part: readonly Trial[]): number =>
      part.reduce((sum, { values }) => sum + Number(values.y), 0) / part.length;
    expect(distance(trials.slice(-30))).toBeLessThan(distance(trials.slice(0, 10)) / 2);
  });
});
