import { describe, expect, it } from 'vitest';
import type { PredictionColumn } from '../../../core/ensemble/columns.ts';
import { filteredRows, filtersOf, shownScores } from '../../../src-renderer/views/run/predict/answers.ts';

const flags = (name: string, ...values: number[]): PredictionColumn => ({
  name,
  type: 'boolean',
  values: Uint8Array.from(values),
});
const number = (name: string, ...values: number[]): PredictionColumn => ({
  name,
  type: 'number',
  values: Float64Array.from(values),
});
const columns = [
  number('outside_knn', 0.5, 2, 1),
  number('outside_entropy', 0.75, 0.25, NaN),
  flags('outside', 0, 1, 0),
  flags('withheld', 1, 0, 0),
];

describe('judged rows', () => {
  it('are listed by what thresholds say', () => {
    expect(filtersOf(columns).map(({ id }) => id)).toEqual(['all', 'answered', 'outside', 'withheld']);
    expect(filteredRows(columns, 'all')).toEqual([0, 1, 2]);
    expect(filteredRows(columns, 'answered')).toEqual([2]);
    expect(filteredRows(columns, 'outside')).toEqual([1]);
    expect(filteredRows(columns, 'withheld')).toEqual([0]);
  });

  it('have no filters that no threshold was fitted for', () => {
    expect(filtersOf(columns.slice(0, 2))).toEqual([]);
    expect(filtersOf(columns.slice(0, 3)).map(({ id }) => id)).toEqual(['all', 'answered', 'outside']);
    expect(filtersOf([])).toEqual([]);
  });

  it('have each score beside its threshold, the one that decides first; NaN is outside', () => {
    const others = [
      { score: 'entropy' as const, threshold: 0.5 },
      { score: 'energy' as const, threshold: 0 },
    ];
    const outside = { score: 'knn' as const, threshold: 1, quantile: 0.95, others };
    expect(shownScores(columns, 0, outside)).toEqual([
      { score: 'knn', value: 0.5, threshold: 1, isOutside: false, decides: true },
      { score: 'entropy', value: 0.75, threshold: 0.5, isOutside: true, decides: false },
    ]);
    expect(shownScores(columns, 2, outside).map(({ isOutside }) => isOutside)).toEqual([false, true]);
    expect(shownScores(columns, 0, null)).toEqual([]);
  });
});
