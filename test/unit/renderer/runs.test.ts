import { describe, expect, it } from 'vitest';
import type { RunRow } from '../../../core/protocol/pages/run-views.ts';
import type { SeriesColumns } from '../../../core/protocol/pages/run-data.ts';
import { configDifferences, spellHistory } from '../../../src-renderer/views/run/configuration/config-differences.ts';
import { comparableMetrics, memberBand, memberNamesOf } from '../../../src-renderer/views/runs/compare/member-band.ts';
import { filterRuns, type RunFilter } from '../../../src-renderer/views/runs/run-filter.ts';

const row = (id: string, changes: Partial<RunRow> = {}): RunRow => ({
  id,
  folder: `/runs/${id}`,
  name: id,
  project: 'sine',
  task: 'regression',
  strategy: 'independent',
  status: 'finished',
  members: 2,
  best: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  endedAt: null,
  error: null,
  notFinite: null,
  tags: [],
  note: '',
  isArchived: false,
  ...changes,
});
const best = (value: number): RunRow['best'] => ({ metric: 'val/ens_nll', value, epoch: 0 });

const everything: RunFilter = {
  search: '',
  status: '',
  project: '',
  tag: '',
  isArchived: false,
  sort: 'created',
  isDescending: true,
};
const ids = (rows: RunRow[], changes: Partial<RunFilter>): string[] =>
  filterRuns(rows, { ...everything, ...changes }).map(({ id }) => id);

describe('the table of runs', () => {
  const rows = [
    row('a', { createdAt: '2026-01-01T00:00:00.000Z', best: best(0.5), tags: ['wide'] }),
    row('b', { createdAt: '2026-01-03T00:00:00.000Z', best: best(NaN), status: 'failed', error: 'Rank 3 died' }),
    row('c', { createdAt: '2026-01-02T00:00:00.000Z', best: best(0.1), project: 'cifar', note: 'Wide layers' }),
    row('d', { createdAt: '2026-01-04T00:00:00.000Z', isArchived: true }),
  ];

  it('shows the newest first and hides archived runs', () => {
    expect(ids(rows, {})).toEqual(['b', 'c', 'a']);
    expect(ids(rows, { isArchived: true })).toEqual(['d']);
  });

  it('sorts by value, with missing values last in both directions', () => {
    expect(ids(rows, { sort: 'best', isDescending: false })).toEqual(['c', 'a', 'b']);
    expect(ids(rows, { sort: 'best', isDescending: true })).toEqual(['a', 'c', 'b']);
  });

  it('filters by status, project and tag', () => {
    expect(ids(rows, { status: 'failed' })).toEqual(['b']);
    expect(ids(rows, { project: 'cifar' })).toEqual(['c']);
    expect(ids(rows, { tag: 'wide' })).toEqual(['a']);
  });

  it('searches for every word in names, tags, notes and errors', () => {
    expect(ids(rows, { search: 'wide' })).toEqual(['c', 'a']);
    expect(ids(rows, { search: 'wide cifar' })).toEqual(['c']);
    expect(ids(rows, { search: 'RANK died' })).toEqual(['b']);
  });
});

describe('differences of configurations', () => {
  it('are the leaves that differ between runs', () => {
    const differences = configDifferences([
      [{ members: 2, devices: [0, 1], optimizer: { kind: 'sgd', momentum: 0.9 } }],
      [{ members: 2, devices: [0, 2], optimizer: { kind: 'adam' } }],
    ]);
    expect(differences).toEqual([
      {
        path: 'devices',
        values: [[[0, 1]], [[0, 2]]],
      },
      { path: 'optimizer.kind', values: [['sgd'], ['adam']] },
      { path: 'optimizer.momentum', values: [[0.9], [undefined]] },
    ]);
  });

  it('include values changed during training, even if all runs share them', () => {
    const resumed = [{ rate: 0.5 }, { rate: 0.5 }, { rate: 0.25 }];
    expect(configDifferences([resumed, [{ rate: 0.25 }]])).toEqual([{ path: 'rate', values: [[0.5, 0.25], [0.25]] }]);
    expect(configDifferences([resumed, resumed])).toHaveLength(1);
    expect(spellHistory([0.5, 0.25])).toBe('0.5 → 0.25');
    expect(spellHistory([undefined, 'adam', [0, 2]])).toBe('- → adam → [0,2]');
  });
});

describe('the band of the members', () => {
  const columns = (name: string, step: number[], value: number[]): SeriesColumns => ({
    name,
    step: Int32Array.from(step),
    epoch: Int32Array.from(step),
    value: Float64Array.from(value),
    total: step.length,
  });

  it('spans the smallest to the largest member at each step of the ensemble', () => {
    const { lower, upper } = memberBand(columns('val/ens_nll', [10, 20, 30], [1, 1, 1]), [
      columns('val/member_0_nll', [10, 20, 25], [2, NaN, 9]),
      columns('val/member_1_nll', [10, 20], [3, 4]),
    ]);
    expect([...lower]).toEqual([2, 4, NaN]);
    expect([...upper]).toEqual([3, 4, NaN]);
  });

  it('uses the same metric as the ensemble', () => {
    const names = ['val/ens_nll', 'val/member_0_nll', 'val/member_10_nll', 'val/member_0_acc', 'test/member_0_nll'];
    expect(memberNamesOf('val/ens_nll', names)).toEqual(['val/member_0_nll', 'val/member_10_nll']);
    expect(memberNamesOf('val/disagreement', names)).toEqual([]);
  });

  it('exists for metrics that two runs share', () => {
    const a = ['val/ens_nll', 'val/member_0_nll', 'train/loss', 'val/ens_acc'];
    expect(comparableMetrics([a, ['val/ens_nll', 'val/member_0_nll', 'train/loss']])).toEqual(['val/ens_nll']);
    expect(comparableMetrics([a])).toEqual(['val/ens_nll', 'val/ens_acc']);
  });
});
