import { describe, expect, it } from 'vitest';
import {
  estimateCell,
  groupCell,
  runCell,
  summaryCell,
  valueCell,
} from '../../../../src-renderer/views/runs/table/run-cell.ts';
import { choicesOf, columnGrid, columnOf, isColumn, moved } from '../../../../src-renderer/views/runs/table/columns.ts';
import { runRow } from '../run-fixtures.ts';

const nll = 'metric:val/ens_nll';

describe('columns', () => {
  it('have the title of what they show', () => {
    const titles = ['best', 'option:optimizer.learningRate', nll, 'set:final/test/acc', 'disk'].map((key) => {
      const { title, isNumber, sort } = columnOf(key);
      return [title, isNumber, sort];
    });
    expect(titles).toEqual([
      ['Ensemble’s best', true, 'best'],
      ['Learning rate', false, 'option:optimizer.learningRate'],
      ['ens NLL', true, nll],
      ['ACC, test', true, 'set:final/test/acc'],
      ['Disk', true, 'disk'],
    ]);
    expect([columnOf('trend').sort, columnOf('disk', 200).width]).toEqual([null, 200]);
  });

  it('come from the address only if they exist', () => {
    expect(['best', 'option:a.b', 'constructor', 'option:', 'option:a"b', ''].map(isColumn)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it('move by places, and stay within the table', () => {
    expect(moved(['a', 'b', 'c'], 'a', 1)).toEqual(['b', 'a', 'c']);
    expect(moved(['a', 'b', 'c'], 'c', 5)).toEqual(['a', 'b', 'c']);
    expect(moved(['a', 'b', 'c'], 'c', -2)).toEqual(['c', 'a', 'b']);
    expect(moved(['a'], 'x', 1)).toEqual(['a']);
  });

  it('offer what is not shown: options that differ before those that all runs share', () => {
    const known = [
      { field: 'option:seed', differs: true, isNumber: true },
      { field: 'option:members', differs: false, isNumber: true },
      { field: nll, differs: true, isNumber: true },
    ];
    const titles = (search: string) =>
      choicesOf(known, ['option:seed'], search).map(({ title, columns }) => [title, columns.map(({ key }) => key)]);
    expect(titles('nll')).toEqual([['Metrics', [nll]]]);
    expect(titles('members')).toEqual([
      ['Run', ['members']],
      ['Options that all runs share', ['option:members']],
    ]);
    expect(titles('seed')).toEqual([]);
  });

  it('share the width of the table, except for those that the user sized', () => {
    const grid = columnGrid([columnOf('duration'), columnOf('disk', 120)], (key) => key === 'disk');
    expect(grid.template).toBe('36px minmax(148px, 260fr) minmax(84px, 96fr) 120px 40px');
    expect(grid.leastWidth).toBe(36 + 148 + 84 + 120 + 40);
  });
});

describe('a cell', () => {
  it('shows a value as its field is read, and a dash with the reason for none', () => {
    const texts = [
      valueCell(nll, 0.123456),
      valueCell('option:optimizer.epsilon', 1e-8),
      valueCell('option:seed', 4294967295),
      valueCell('commit', '0123456789abcdef'),
      valueCell('disk', 3 * 2 ** 20),
    ].map(({ text }) => text);
    expect(texts).toEqual(['0.1235', '1e-8', '4294967295', '01234567', '3 MiB']);
    expect(valueCell(nll, null)).toEqual({ text: '–', title: 'The run has no such result' });
    expect(valueCell(nll, Number.NaN)).toEqual({
      text: '–',
      title: 'NaN: the value could not be computed',
      isBad: true,
    });
    expect(valueCell(nll, undefined)).toEqual({ text: '' });
  });

  it('says n of a mean, and why one value has no error', () => {
    // Of 1 and 3: s² = 2, s/√2 = 1.
    expect(estimateCell({ mean: 2, standardError: 1, count: 2 })).toEqual({
      text: '2.0 ± 1.0',
      title: 'Mean ± standard error (s/√n) of n = 2 finished runs',
    });
    expect(estimateCell({ mean: 0.5, standardError: Number.NaN, count: 1, leftOut: 1 })).toEqual({
      text: '0.5000 ± –',
      title: 'n = 1: a standard error needs two finished runs; 1 value that is NaN or infinite left out',
    });
    expect(estimateCell({ mean: Number.NaN, standardError: Number.NaN, count: 0 })).toEqual({
      text: '–',
      title: 'No run has finished',
      isBad: false,
    });
  });

  it('shows a setting of a group: the common value, the range, or how many values', () => {
    const texts = [
      summaryCell('option:a', { kind: 'same', value: 'adam' }),
      summaryCell('option:a', { kind: 'several', count: 3, range: [0.001, 0.1] }),
      summaryCell('option:a', { kind: 'several', count: 2, range: null }),
      summaryCell('option:a', { kind: 'none' }),
    ].map(({ text }) => text);
    expect(texts).toEqual(['adam', '0.001 … 0.1', '2 values', '–']);
  });

  it('names the metric of the best value, and the epoch as people count', () => {
    const row = runRow({ best: { metric: 'val/ens_nll', value: 0.5, epoch: 3 }, endedAt: '2026-01-01T00:01:00Z' });
    const item = { kind: 'run' as const, row, sweep: undefined, values: [0.25] };
    expect(runCell(item, columnOf('best'), -1)).toEqual({
      label: 'ens NLL',
      text: '0.5000',
      title: 'at epoch 4',
      isBad: false,
    });
    expect(runCell(item, columnOf(nll), 0).text).toBe('0.2500');
    expect(runCell({ ...item, row: { ...row, best: null } }, columnOf('best'), -1)).toEqual({
      text: '–',
      title: 'The run was never evaluated',
    });
  });

  it('has no mean of different metrics in a group', () => {
    const group = {
      value: 'x',
      label: 'x',
      runs: 2,
      active: 0,
      finished: 2,
      best: 'mixed' as const,
      duration: { mean: 90, standardError: 30, count: 2 },
      members: { kind: 'same' as const, value: 4 },
      newest: '2026-01-01T00:00:00Z',
      values: [],
    };
    expect(groupCell(group, columnOf('best'), -1).text).toBe('–');
    expect(groupCell(group, columnOf('duration'), -1).text).toBe('1 m 30 s ± 30 s');
    const short = { ...group, duration: { mean: 4, standardError: 0.25, count: 4 } };
    expect(groupCell(short, columnOf('duration'), -1).text).toBe('4.00 ± 0.25 s');
    expect(groupCell(group, columnOf('members'), -1).text).toBe('4');
    expect(groupCell(group, columnOf('status'), -1).text).toBe('2 finished');
  });
});
