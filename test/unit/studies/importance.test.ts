import { describe, expect, it } from 'vitest';
import { gridDensity, importanceReport, parameterImportance } from '../../../core/studies/importance/ped-anova.ts';
import { domainOf } from '../../../core/studies/space/domain.ts';
import { orderSpace, type Space } from '../../../core/studies/space/space.ts';
import type { Trial } from '../../../core/studies/trial.ts';
import { Generator } from '../../../core/random/generator.ts';
import { completed, everyKind } from './functions.ts';
import { optuna } from './recorded.ts';

const space: Space = [
  ...everyKind,
  { path: 'extra', domain: domainOf({ kind: 'float', low: 0, high: 3 }), when: { path: 'kind', equals: ['a'] } },
];

describe('parameterImportance', () => {
  it.each(optuna.importances.map((recorded, index) => ({ index, ...recorded })))(
    'agrees with Optuna, case $index',
    ({ trials, direction, target, region, importances }) => {
      const finished = trials.map(({ values, objective }, number) => completed(number, values, objective));
      const found = parameterImportance(space, finished, [direction], { target, region });
      for (const { path, importance } of found) expect(importance, path).toBeCloseTo(importances[path], 9);
      const sorted = found.map(({ importance }) => importance).toSorted((left, right) => right - left);
      expect(found.map(({ importance }) => importance)).toEqual(sorted);
    },
  );

  it('is 0 without enough trials, and ignores failed ones', () => {
    const [trial] = optuna.importances[0].trials.map(({ values }) => completed(0, values, 1));
    expect(parameterImportance(space, [trial], ['minimize']).every(({ importance }) => importance === 0)).toBe(true);
    const failed = { ...trial, number: 1, state: 'failed' as const, objectives: null };
    expect(parameterImportance(space, [trial, failed], ['minimize']).every(({ importance }) => importance === 0)).toBe(
      true,
    );
  });

  it('finds the parameter on which the front of two objectives depends', () => {
    const trials = optuna.importances[4].trials.map(({ values }, number) => ({
      ...completed(number, values, 0),
      objectives: [Number(values.layers) ** 2, -Number(values.layers) + 5 * (Number(values.layers) > 4 ? 1 : 0)],
    }));
    expect(parameterImportance(space, trials, ['minimize', 'minimize'])[0].path).toBe('layers');
  });
});

describe('gridDensity', () => {
  it('sums to 1', () => {
    for (const { path, domain } of space) {
      const values = optuna.importances[0].trials.flatMap(({ values }) => (path in values ? [values[path]] : []));
      expect(gridDensity(domain, values).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
    }
  });
});

describe('importanceReport', () => {
  const two = orderSpace({ x: { kind: 'float', low: 0, high: 1 }, y: { kind: 'float', low: 0, high: 1 } });
  /** Random trials with a loss. */
  const trialsOf = (count: number, seed: number, lossOf: (x: number, y: number, noise: number) => number): Trial[] => {
    const generator = new Generator(seed, 'importance');
    return Array.from({ length: count }, (_, number) => {
      const [x, y] = [generator.uniform(), generator.uniform()];
      return completed(number, { x, y }, lossOf(x, y, generator.normal()));
    });
  };
  const first = { index: 0, direction: 'minimize' as const };
  const byPath = (trials: readonly Trial[]) =>
    new Map(importanceReport(two, trials, first).parameters.map((one) => [one.path, one]));

  it('has narrow intervals where many trials agree, and no note', () => {
    const trials = trialsOf(300, 1, (x, _, noise) => (x - 0.3) ** 2 + 0.001 * noise);
    expect(importanceReport(two, trials, first)).toMatchObject({ trials: 300, note: null });
    const [x, y] = [byPath(trials).get('x'), byPath(trials).get('y')];
    expect(x?.low).toBeGreaterThan(0.7);
    expect(y?.high).toBeLessThan(0.3);
    expect((x?.share ?? NaN) + (y?.share ?? NaN)).toBeCloseTo(1, 12);
  });

  it('contains the even share of parameters that do not matter, however one of them leads among 12 trials', () => {
    const found = Array.from({ length: 60 }, (_, seed) =>
      byPath(trialsOf(12, seed, (_x, _y, noise) => noise)).get('x'),
    );
    // Of 12 trials the shares are often as far apart as .8 and .2, and 95 % intervals contain .5 nearly always.
    expect(found.filter((x) => Math.abs((x?.share ?? NaN) - 0.5) > 0.3).length).toBeGreaterThan(10);
    expect(found.filter((x) => x !== undefined && x.low <= 0.5 && x.high >= 0.5).length).toBeGreaterThanOrEqual(54);
    expect(found.every((x) => x !== undefined && x.low <= x.share && x.share <= x.high)).toBe(true);
  });

  it('says what the best tenth is below 30 trials, and needs 10', () => {
    const noteOf = (count: number) =>
      importanceReport(
        two,
        trialsOf(count, 3, (x) => x),
        first,
      ).note;
    expect(noteOf(12)).toBe(
      'With 12 complete trials the best tenth is 2 trials, so the shares may be chance: look at their ' +
        'intervals, and try at least 30 trials.',
    );
    expect(noteOf(10)).toContain('the best tenth is one trial');
    expect(noteOf(29)).toContain('the best tenth is 3 trials');
    expect(noteOf(30)).toBeNull();
    expect(
      importanceReport(
        two,
        trialsOf(9, 3, (x) => x),
        first,
      ),
    ).toEqual({
      trials: 9,
      parameters: [],
      note: 'The importance of parameters needs 10 complete trials; there are 9.',
    });
  });

  it('does not depend on the order of the trials, and leaves out failed ones and losses that are no number', () => {
    const trials = trialsOf(20, 4, (x, y) => x + y / 3);
    const others: Trial[] = [
      { ...completed(20, { x: 0, y: 0 }, -1), state: 'failed' },
      completed(21, { x: 0, y: 1 }, NaN),
      completed(22, { x: 1, y: 1 }, Infinity),
    ];
    const expected = importanceReport(two, trials, first);
    expect(importanceReport(two, [...others, ...trials.toReversed()], first)).toEqual(expected);
  });

  it('judges by one objective and its direction', () => {
    const trials = trialsOf(60, 5, (x) => x).map((trial) => ({
      ...trial,
      objectives: [Number(trial.values.x), -(Number(trial.values.y) ** 2)],
    }));
    const leading = (index: number, direction: 'minimize' | 'maximize') =>
      importanceReport(two, trials, { index, direction }).parameters[0].path;
    expect([leading(0, 'minimize'), leading(1, 'maximize'), leading(1, 'minimize')]).toEqual(['x', 'y', 'y']);
  });

  it('is 1 for a single parameter, and 0 for all where the best are like the rest', () => {
    const one = orderSpace({ x: { kind: 'float', low: 0, high: 1 } });
    const trials = trialsOf(40, 6, (x) => x);
    expect(importanceReport(one, trials, first).parameters).toEqual([{ path: 'x', share: 1, low: 1, high: 1 }]);
    const equal = trials.map((trial) => ({ ...trial, objectives: [2] }));
    expect(importanceReport(two, equal, first).parameters).toEqual([
      { path: 'x', share: 0, low: 0, high: 0 },
      { path: 'y', share: 0, low: 0, high: 0 },
    ]);
  });
});
