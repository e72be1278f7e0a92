import { describe, expect, it } from 'vitest';
import {
  lineNear,
  movedByKey,
  type ParallelAxis,
  type ParallelGroup,
  parallelPath,
  readLine,
  sharesOf,
  withEnd,
} from '../../../../src-renderer/charts/figures/parallel-lines.ts';
import { placeIn } from '../../../../src-renderer/charts/scene/plot.ts';

const axes: ParallelAxis[] = [
  { id: 'rate', label: 'rate', scale: { from: 1, to: 100, isLog: true }, brush: null, keyStep: 0.02 },
  {
    id: 'kind',
    label: 'kind',
    scale: { from: -0.5, to: 1.5, isLog: false },
    ticks: [
      { value: 0, label: 'sgd' },
      { value: 1, label: 'adam' },
    ],
    brush: { from: 0.5, to: 9 },
    keyStep: 0.5,
  },
  { id: 'nll', label: 'NLL', scale: { from: 0, to: 1, isLog: false }, brush: null, keyStep: 0.02 },
];
const area = { left: 0, top: 0, right: 300, bottom: 100 };
const place = placeIn({ x: { from: -0.5, to: 2.5, isLog: false }, y: { from: 0, to: 1, isLog: false } }, area);
const group: ParallelGroup = {
  label: 'trials',
  opacity: 1,
  width: 1,
  ids: [4, 9],
  rows: [
    [10, 1, 0.5],
    [100, NaN, 0.25],
  ],
};

describe('lines over parallel axes', () => {
  it('pass each axis at its own scale, and stop where a value is missing', () => {
    expect(parallelPath([group.rows[0]], axes, place)).toBe('M50 50L150 25L250 50');
    expect(parallelPath([group.rows[1]], axes, place)).toBe('M47 0h6M247 75h6');
    expect(parallelPath([[1, NaN, NaN]], axes, place)).toBe('M47 100h6');
  });

  it('are found near an axis, unless they are faded', () => {
    expect(lineNear({ axes, groups: [group] }, place, 240, 48)).toBe(4);
    expect(lineNear({ axes, groups: [group] }, place, 255, 70)).toBe(9);
    expect(lineNear({ axes, groups: [group] }, place, 150, 70)).toBeNull();
    expect(lineNear({ axes, groups: [{ ...group, isFaded: true }] }, place, 240, 48)).toBeNull();
  });

  it('are read with the names of their values', () => {
    expect(readLine({ axes, groups: [group], idName: 'trial' }, 4)).toBe('trial 4: rate 10, kind adam, NLL 0.5000');
    expect(readLine({ axes, groups: [group], idName: 'trial' }, 9)).toBe('trial 9: rate 100, NLL 0.2500');
    expect(readLine({ axes, groups: [group], idName: 'trial' }, 5)).toBe('');
  });
});

describe('the brush of an axis', () => {
  it('covers a share of it', () => {
    expect(sharesOf(axes[0])).toEqual([0, 1]);
    expect(sharesOf(axes[1])).toEqual([0.5, 1]);
    expect(sharesOf({ ...axes[0], brush: { from: 10, to: 100 } })).toEqual([0.5, 1]);
  });

  it('moves by keys, and its ends do not pass each other', () => {
    expect(movedByKey('ArrowUp', 0.5, 0.25)).toBe(0.75);
    expect(movedByKey('ArrowDown', 0.1, 0.25)).toBe(0);
    expect(movedByKey('PageUp', 0.1, 0.1)).toBeCloseTo(0.6, 12);
    expect(movedByKey('End', 0.1, 0.1)).toBe(1);
    expect(movedByKey('a', 0.1, 0.1)).toBeNull();
    expect(withEnd([0.2, 0.6], 'from', 0.9)).toEqual([0.6, 0.6]);
    expect(withEnd([0.2, 0.6], 'to', 0.8)).toEqual([0.2, 0.8]);
  });
});
