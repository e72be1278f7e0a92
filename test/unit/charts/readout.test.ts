import { describe, expect, it } from 'vitest';
import {
  formatDistance,
  nextRank,
  placeBeside,
  readoutRows,
  spokenReadout,
} from '../../../src-renderer/charts/series/readout.ts';
import type { ReadoutValue } from '../../../src-renderer/charts/types.ts';

const style = { color: 'text', width: 1, opacity: 1, dash: [] } as const;

function member(rank: number, value: number): ReadoutValue {
  return { id: `rank-${rank}`, label: `rank ${rank}`, role: 'rank', rank, x: 0, value, style };
}

function ensemble(value: number): ReadoutValue {
  return { id: 'ensemble', label: 'ensemble', role: 'ensemble', rank: null, x: 0, value, style };
}

const spell = (values: readonly ReadoutValue[], lit: number | null = null) =>
  readoutRows(values, lit).rows.map(({ label, value, distance }) => [label, value, distance]);

describe('the values at the cursor', () => {
  it('are sorted like the lines on the plot, each with its distance to the ensemble', () => {
    expect(spell([member(0, 1.5), ensemble(1.25), member(1, 1)])).toEqual([
      ['rank 0', 1.5, 0.25],
      ['ensemble', 1.25, null],
      ['rank 1', 1, -0.25],
    ]);
  });

  it('that are not finite come last, without a distance', () => {
    expect(spell([member(0, NaN), member(1, Infinity), ensemble(2)])).toEqual([
      ['rank 1', Infinity, null],
      ['ensemble', 2, null],
      ['rank 0', NaN, null],
    ]);
    expect(spell([member(0, 1), ensemble(NaN)])).toEqual([
      ['rank 0', 1, null],
      ['ensemble', NaN, null],
    ]);
  });

  it('of more than eight ranks are the extremes, the ensemble and the lit line', () => {
    const values = [ensemble(3.5), ...Array.from({ length: 9 }, (_, rank) => member(rank, rank))];
    const { rows, leftOut } = readoutRows(values, 4);
    expect(rows.map(({ label, isLit }) => [label, isLit])).toEqual([
      ['rank 8', false],
      ['rank 4', true],
      ['ensemble', false],
      ['rank 0', false],
    ]);
    expect(leftOut).toBe(6);
    expect(readoutRows(values.slice(0, 9), null)).toMatchObject({ leftOut: 0, rows: { length: 9 } });
  });

  it('have distances of three digits with a sign', () => {
    expect([0.012345, -0.00041, 1234.5, 0, -2e-7].map(formatDistance)).toEqual([
      '+0.0123',
      '−0.00041',
      '+1,230',
      '0',
      '−2.000e-7',
    ]);
  });

  it('are spoken as ensemble, range and lit line', () => {
    const values = [member(0, 1.5), ensemble(1.25), member(1, 1)];
    expect(spokenReadout(values, readoutRows(values, null))).toBe('ensemble 1.250 · members 1 to 1.500');
    expect(spokenReadout(values, readoutRows(values, 1))).toBe(
      'ensemble 1.250 · members 1 to 1.500; rank 1 1, 0.25 below the ensemble',
    );
  });
});

it('the keys walk from line to line in the order of their values', () => {
  const values = [member(0, 3), member(1, 1), member(2, 2), member(3, NaN), ensemble(5)];
  const walk = (from: number | null, direction: 'up' | 'down') => nextRank(values, from, direction);
  expect([null, 1, 2, 0].map((rank) => walk(rank, 'up'))).toEqual([0, 2, 0, 0]);
  expect([null, 0, 2, 1].map((rank) => walk(rank, 'down'))).toEqual([1, 2, 1, 1]);
  expect(nextRank([ensemble(1)], null, 'up')).toBeNull();
});

describe('the box beside a chart', () => {
  const box = { width: 200, height: 100 };
  const window = { width: 1000, height: 600 };

  it('is to the right of it, else to its left', () => {
    expect(placeBeside({ left: 100, top: 50, right: 500, bottom: 300 }, box, window)).toEqual({ left: 516, top: 50 });
    expect(placeBeside({ left: 600, top: 50, right: 990, bottom: 300 }, box, window)).toEqual({ left: 384, top: 50 });
  });

  it('is below or above a chart as wide as the window', () => {
    const phone = { width: 390, height: 600 };
    expect(placeBeside({ left: 10, top: 50, right: 380, bottom: 300 }, box, phone)).toEqual({ left: 10, top: 316 });
    expect(placeBeside({ left: 10, top: 250, right: 380, bottom: 550 }, box, phone)).toEqual({ left: 10, top: 134 });
  });

  it('stays in the window', () => {
    expect(placeBeside({ left: 100, top: 580, right: 500, bottom: 900 }, box, window)).toEqual({ left: 516, top: 496 });
    expect(placeBeside({ left: 100, top: -90, right: 500, bottom: 300 }, box, window)).toEqual({ left: 516, top: 4 });
  });
});
