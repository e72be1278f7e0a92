import { describe, expect, it } from 'vitest';
import { parameterImportance } from '../../../core/search/importance/ped-anova.ts';
import { domainOf } from '../../../core/search/space/domain.ts';
import { gridDensity } from '../../../core/search/importance/grid-density.ts';
import type { Space } from '../../../core/search/space/space.ts';
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
