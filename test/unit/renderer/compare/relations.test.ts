import { describe, expect, it } from 'vitest';
import { runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { type ComparedSubject, runSubject } from '../../../../src-renderer/views/compare/compared-subject.ts';
import {
  chosenAxes,
  isWide,
  lineGroups,
  optionAxes,
  resultAxis,
  scatterGroups,
  selectedPlaces,
} from '../../../../src-renderer/views/compare/option-axes.ts';
import { runRecord, runRow, runView } from '../run-fixtures.ts';

function subject(id: string, config: object, project = 'p'): ComparedSubject {
  const record = runRecord({ id, config: runConfigSchema.parse(config), attempts: [] });
  return runSubject(runView({ record, row: runRow({ id, name: id, project }) }));
}

const adam = (learningRate: number) => ({ kind: 'adam', learningRate });

describe('the options in which runs differ', () => {
  const axes = optionAxes([
    subject('a', { members: 2, optimizer: adam(0.0001) }),
    subject('b', { members: 4, optimizer: adam(0.01) }),
    subject('c', { members: 4, optimizer: { kind: 'sgd', learningRate: 0.05, momentum: 0.5 } }),
  ]);
  const named = (path: string) => axes.find(({ id }) => id === `option ${path}`);

  it('are axes with a value for each run, those with the most values first', () => {
    expect(axes[0]).toMatchObject({ id: 'option optimizer.learningRate', label: 'Learning rate' });
    expect(axes[0].values).toEqual([0.0001, 0.01, 0.05]);
    expect(named('members')?.values).toEqual([2, 4, 4]);
    expect(named('maxEpochs')).toBeUndefined();
    // Options of one optimizer, which have one value, come after those with two.
    expect(axes.slice(0, 3).map(({ label }) => label)).toEqual(['Learning rate', 'Members', 'Optimizer']);
  });

  it('lie on a logarithmic scale where they are positive and span more than a factor of 30', () => {
    expect(named('optimizer.learningRate')?.scale.isLog).toBe(true);
    expect(named('members')?.scale.isLog).toBe(false);
    expect([isWide([1, 30]), isWide([1, 29]), isWide([0, 100]), isWide([NaN]), isWide([NaN, 1, 100])]).toEqual([
      true,
      false,
      false,
      false,
      true,
    ]);
  });

  it('lie at whole numbers where they are names, and nowhere where a run lacks the option', () => {
    expect(named('optimizer.kind')).toMatchObject({
      values: [0, 0, 1],
      ticks: [
        { value: 0, label: 'adam' },
        { value: 1, label: 'sgd' },
      ],
      scale: { from: -0.5, to: 1.5, isLog: false },
    });
    expect(named('optimizer.momentum')?.values).toEqual([NaN, NaN, 0.5]);
  });

  it('include the project', () => {
    expect(optionAxes([subject('a', {}, 'p'), subject('b', {}, 'q')]).map(({ id }) => id)).toEqual(['option project']);
  });
});

describe('the charts of options and results', () => {
  const axis = (id: string, values: number[]) => ({
    id,
    label: id,
    keyStep: 0.02,
    values,
    scale: { from: 0, to: 1, isLog: false },
  });
  const [lr, nll] = [axis('option lr', [0.1, 0.2, NaN]), { ...axis('best nll', [3, 2, 1]), errors: [NaN, 0.5, NaN] }];

  it('have a point for each run, numbered from 1, with the standard error of a sweep', () => {
    const [, second] = scatterGroups(['a', 'b', 'c'], (place) => place !== 1, lr, nll);
    expect(second).toEqual({
      label: 'b',
      rank: 1,
      symbol: 'dot',
      isFaded: true,
      ids: [2],
      x: [0.2],
      y: [2],
      errors: [0.5],
    });
  });

  it('have a line for each run', () => {
    expect(lineGroups(['a', 'b', 'c'], () => true, [lr, nll]).map(({ ids, rows }) => [ids, rows])).toEqual([
      [[1], [[0.1, 3]]],
      [[2], [[0.2, 2]]],
      [[3], [[NaN, 1]]],
    ]);
  });

  it('select the runs within all brushes; a run without the option is in none', () => {
    expect(selectedPlaces(3, [lr, nll], {})).toEqual([0, 1, 2]);
    expect(selectedPlaces(3, [lr, nll], { 'best nll': { from: 0, to: 2 } })).toEqual([1, 2]);
    const both = { 'best nll': { from: 0, to: 2 }, 'option lr': { from: 0, to: 1 } };
    expect(selectedPlaces(3, [lr, nll], both)).toEqual([1]);
  });

  it('show the axes of the address, else the first options and results', () => {
    const options = 'abcdef'.split('').map((id) => axis(id, []));
    const results = 'xyz'.split('').map((id) => axis(id, []));
    const ids = (asked: string[]) => chosenAxes(asked, options, results).map(({ id }) => id);
    expect(ids([])).toEqual(['a', 'b', 'c', 'd', 'e', 'x', 'y']);
    expect(ids(['z', 'b', 'gone'])).toEqual(['b', 'z']);
    expect(ids(['gone'])).toHaveLength(7);
  });

  it('take values and standard errors of a result, none where a run has no value', () => {
    const estimates = [
      { mean: 0.5, standardError: 0.1, count: 3 },
      { mean: NaN, standardError: NaN, count: 0 },
    ];
    const subjects = [subject('a', {}), subject('b', {})];
    const result = {
      id: 'r',
      label: 'r',
      mode: 'min',
      of: (one: ComparedSubject) => estimates[subjects.indexOf(one)],
    } as const;
    const axis = resultAxis(result, subjects);
    expect(axis).toMatchObject({ values: [0.5, NaN], errors: [0.1, NaN] });
    // From 0.4 to 0.6, with 3 % of that on both sides.
    expect(axis.scale.from).toBeCloseTo(0.394, 12);
    expect(axis.scale.to).toBeCloseTo(0.606, 12);
  });
});
